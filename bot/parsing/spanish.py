"""The Spanish vocabulary and phrases. Keys are casefolded; some entries are regular expressions."""

from __future__ import annotations

from functools import cache
from typing import Final

from bot.parsing.vocabulary import MAIN, Phrases, Words, names

_WEEKDAY: Final = (
    r"(?:lunes|martes|mi[ée]rcoles|jueves|viernes|s[áa]bado|domingo|lun|mi[ée]|jue|vie|s[áa]b|dom)"
    r"\.?"
)
_MONTH: Final = (
    r"(?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre"
    r"|diciembre|ene|feb|mar|abr|may|jun|jul|ago|sept?|set|oct|nov|dic)\b\.?"
)
_DAY: Final = (
    rf"(?:{_WEEKDAY}|\d[\d/.-]*[º°]?|hoy|ma[ñn]ana|pasado ma[ñn]ana|navidad|nochebuena|nochevieja"
    r"|a[ñn]o nuevo|reyes)"
)
_FROM: Final = r"a partir del?|desde|del|de"
_UNIT: Final = r"(?:d[ií]as?|jornadas?|medio|semanas?|meses|mes|a[ñn]os?|h\b|horas?|min)"
_NEXT: Final = r"(?:que viene|que entra|entrante|pr[óo]xim[oa]s?)"
_LAST: Final = r"(?:pasad[oa]s?|[úu]ltim[oa]s?)"
_SICK: Final = r"(?:enferm[oa]|de baja|baja|mal[oa]?|indispuest[oa])"
_OFF: Final = (
    r"(?:fuera(?: de la oficina)?|ausentes?|libres?|enferm[oa]s?|indispuest[oa]s?"
    r"|de (?:vacaciones|baja|permiso|libre|viaje|descanso)|en (?:remoto|casa)|teletrabajando)"
)
_LEAVE: Final = r"(?:vacaciones|ausencias?|permisos?|bajas?|días?(?: (?:libres?|de vacaciones))?)"


def _genders(*stems: str) -> tuple[str, ...]:
    """Adjectives as they agree: ``próximo``, ``próxima``, ``próximos``, …"""
    return tuple(stem + ending for stem in stems for ending in ("o", "a", "os", "as"))


@cache
def spanish() -> Words:
    return Words(
        months=names("es", "months") | {"sep": 9, "set": 9, "setiembre": 9},
        weekdays=names("es", "days"),
        days_from_today={
            **dict.fromkeys(("anteayer", "antes de ayer", "antier"), -2),
            "ayer": -1,
            "hoy": 0,
            "mañana": 1,
            "pasado mañana": 2,
        },
        halves={
            **dict.fromkeys(
                (f"{before} mañana" for before in ("por la", "en la", "de la", "a la")), "am"
            ),
            **dict.fromkeys(
                (f"{before} tarde" for before in ("por la", "en la", "de la", "a la")), "pm"
            ),
            "tarde": "pm",
        },
        unnamed_halves=(r"(?:un )?medio día", r"(?:una )?media jornada"),
        numbers={
            **dict.fromkeys(("un", "una", "uno"), 1),
            "dos": 2,
            "tres": 3,
            "cuatro": 4,
            "cinco": 5,
            "seis": 6,
            "siete": 7,
            "ocho": 8,
            "nueve": 9,
            "diez": 10,
        },
        which_week={
            **dict.fromkeys(("este", "esta"), "this"),
            # For "el próximo viernes" some people mean the coming one, some that of the next week.
            **dict.fromkeys(_genders("próxim"), "next_or_coming"),
            **dict.fromkeys(_genders("pasad", "últim"), "last"),
        },
        to=("al", "hasta", "hasta el", "hasta el día", "al día"),
        # "enfermo desde el lunes" is rewritten so: with other leave, "desde" begins it.
        since=("desde-entonces",),
        starting=(
            *("a partir de", "a partir del", "a partir del día", "desde", "desde el"),
            *("desde el día", "empezando el", "comenzando el", "a contar desde el"),
        ),
        within=("en", "dentro de", "de aquí a"),
        one_day=("día", "jornada"),
        day_units=("día", "días", "jornada", "jornadas"),
        week_units=("semana", "semanas"),
        week_of=(r"(?:la )?semana (?:del(?: día)?|que empieza el|que comienza el)",),
        numbered_week=("semana", "semana n.º", "semana nº", "semana número", "sem"),
        before=("antes de", "antes del", "anterior a", "anterior al", "previo a"),
        after=("después de", "después del", "tras", "tras el", "siguiente a", "siguiente al"),
        back=(
            *("de vuelta", "vuelta", "vuelvo", "volveré", "estoy de vuelta", "de regreso"),
            *("regreso", "regresaré", "me reincorporo", "reincorporación", "estaré de vuelta"),
        ),
        ordinal_endings=("º", "°", ".º", "ro", "ero"),
        articles=("el", "el día", "día"),
        of=("de", "del"),
        exceptions=frozenset(
            ("cada", "excepto", "salvo", "menos", "no", "ni", "o", "u", "todos", "todas", "sin")
            + ("sobre", "pero", "tampoco", "puente", "excluido", "excluidos", "ambos", "ambas")
        ),
        also=("y", "e"),
        reasons=(
            *(
                "porque",
                "ya que",
                "por(?! favor)",
                "para",
                "debido a",
                "a causa de",
                "con motivo de",
            ),
            *("tengo", "por culpa de", "puesto que"),
        ),
        moving=frozenset(
            ("mediodía", "medianoche", "noche", "noches", "mañanas", "tardes", "madrugada", "día")
            + ("días", "mes", "meses", "año", "años", "hora", "horas", "h", "minuto", "minutos")
            + ("temprano", "pronto", "solo", "sólo", "solamente", "únicamente", "finde", "findes")
            + ("quizá", "quizás", "igual", "víspera", "principio", "principios", "mediados", "fin")
            + ("fines", "final", "finales", "quincena", "mitad", "media", "medio", "quince", "once")
            + ("doce", "veinte", "treinta", "nunca", "siempre", "resto", "aproximadamente", "unos")
            + ("otro", "otra", "otros", "otras", "laborables", "hábiles", "naturales", "siguiente")
            + ("siguientes", "anterior", "todavía", "más", "trimestre", "semestre", "primero")
            + ("primer", "primera", "segundo", "segunda", "semana", "semanas", "jornada", "última")
            + ("último", "luego", "después", "antes", "tarde", "nada", "ningún", "ninguno")
        ),
        fillers=frozenset(
            ("a", "al", "de", "del", "el", "en", "es", "la", "las", "lo", "los", "me", "mi", "mis")
            + ("para", "por", "que", "se", "su", "un", "una", "yo", "nos", "con", "desde", "voy")
            + ("estoy", "estaré", "estar", "estaba", "estuve", "he", "ha", "sido", "será", "ser")
            + ("tengo", "tendré", "tener", "quiero", "necesito", "cojo", "coger", "cogeré", "tomo")
            + ("tomar", "tomaré", "pido", "pedir", "pediré", "solicito", "solicitar", "reservo")
            + ("reservar", "ir", "irme", "marcho", "libre", "libres", "fuera", "ausente", "off")
            + ("inclusive", "incluido", "incluidos", "disfruto", "disfrutar", "libro")
            + ("librar", "durante", "hacer", "haré", "día", "toda", "semana", "poner", "meter")
            + ("cógeme", "ponme", "apúntame", "resérvame", "dame", "descanso", "falto", "faltaré")
        ),
        leave_words=frozenset(
            ("vacaciones", "vacación", "permiso", "permisos", "ausencia", "ausencias")
        ),
        type_words={
            **dict.fromkeys(("vacaciones", "vacación"), MAIN),
            **dict.fromkeys((*_genders("enferm"), "enfermedad", "baja", "gripe"), "sick"),
            **dict.fromkeys(
                ("mal", "malo", "mala", "indispuesto", "indispuesta", "resfriado"), "sick"
            ),
            **dict.fromkeys(("resfriada", "fiebre", "migraña", "jaqueca"), "sick"),
            "sin-sueldo": "unpaid",
            **dict.fromkeys(("maternidad", "paternidad", "parental"), "parental"),
            **dict.fromkeys(("duelo", "fallecimiento", "entierro", "funeral"), "compassionate"),
        },
        courtesies=(
            *("hola", "buenas", "buenos días", "buen día", "buenas (?:tardes|noches)", "oye"),
            *("por favor", "porfa(?:vor)?", "gracias", "muchas gracias", "mil gracias"),
            *("(?:muchas )?gracias (?:de antemano|por todo)", "(?:un )?saludos?", "un abrazo"),
            *(
                "posible",
                "si es posible",
                "si se puede",
                "si puede ser",
                "si no hay problema",
                "vale",
            ),
            *("(?:me |nos )?(?:gustaría|encantaría)", "quisiera", "querría", "quería"),
            *("también", "espero", "ojalá", "si todo va bien"),
            "(?:(?:ambos|los dos) (?:días )?)?(?:incluid[oa]s?|inclusive)",
            *(
                "al final",
                "(?:me )?(?:puedes|podrías)(?: (?:poner|apuntar|dar|reservar|pedir)(?:me)?)?",
            ),
            *("(?:me )?(?:puedo|podría|podemos)", "(?:es|sería) posible", "se puede"),
            "(?:voy|vamos) a (?:estar|tomar|tomarme|coger|cogerme|pedir)?",
            *("(?:tomar|coger|pedir|solicitar|reservar)(?:me)?", "(?:quiero|necesito) "),
            "(?:yo )?no (?:estaré|estoy|vengo|vendré|trabajo|trabajaré|iré|puedo (?:ir|venir)"
            "|voy(?: a (?:estar|ir|venir|poder ir))?)"
            "(?: (?:en la oficina|disponible|aquí|por aquí|localizable|a trabajar|al trabajo"
            "|a la oficina))?",
            *("todo el día", "(?:el |un )?día (?:entero|completo)", "fuera de la oficina"),
            *("(?:me )?(?:encuentro|siento|pongo|puse|he puesto)", "mi solicitud de"),
            *("(?:una )?solicitud de", "días? libres?", "el día libre", "días de vacaciones"),
        ),
        rewrites={
            r"n\.?º": "nº",
            r"no +(?:me (?:encuentro|siento) )?(?:muy |nada )?bien": "mal",
            r"esta ma[ñn]ana": "hoy por la mañana",
            r"esta tarde": "hoy por la tarde",
            # "la mañana del lunes" is no tomorrow.
            rf"(?:(?:por|en) )?la (ma[ñn]ana|tarde) del ({_WEEKDAY}|\d+)": r"el \2 por la \1",
            r"(?:permiso |d[ií]as? )?(?:sin (?:sueldo|goce de sueldo|paga)"
            r"|no (?:remunerad|retribuid|pagad)[oa]s?)": "sin-sueldo",
            r"baja (?:por enfermedad|m.dica|laboral)|permiso por enfermedad": "enfermedad",
            r"por enfermedad": "enfermedad",
            r"baja (?:por |de )?(maternidad|paternidad)": r"\1",
            r"(primero|uno) de(?= (?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre"
            r"|octubre|noviembre|diciembre))": "1 de",
            r"(?<!\d )mar\.?(?= \d{1,2}(?!\d))": "martes",
            rf"({_WEEKDAY}) (y|-|al?|e) ({_WEEKDAY}) {_NEXT}(?! semana)": (
                r"próximo \1 \2 próximo \3"
            ),
            rf"(?:(?:este|el) )?({_WEEKDAY}) {_NEXT}(?! semana)": r"próximo \1",
            rf"({_WEEKDAY}) pasado(?! ma[ñn]ana)": r"pasado \1",
            rf"(?:(?:de|en|durante) )?(?:toda )?(?:la )?semana {_NEXT}": "próxima semana",
            rf"(?:(?:de|en|durante) )?(?:la )?semana {_LAST}": "pasada semana",
            rf"({_WEEKDAY}) de (?:la )?próxima semana": r"\1 próxima semana",
            r"entre (?:el )?(\S.*?) y(?: el| la)?": r"\1 -",
            rf"(?:de |del )?({_DAY}(?: \S+){{0,3}}?) a(?: el)?(?= (?:este |próximo |el )?{_DAY})"
            rf"(?! (?:la )?(?:ma[ñn]ana|tarde)(?! del))": r"\1 -",
            rf"({_SICK})((?: (?!desde)\S+){{0,3}}?) desde(?: el)?"
            rf"(?= (?:{_WEEKDAY}|ayer|hoy|anteayer|\d|pasad))(?!.* (?:hasta|al|-) )": (
                r"\1\2 desde-entonces"
            ),
            r"(?:(?:un|una|con|tengo|mucha|mucho|fuerte) )*(?:dolor de (?:cabeza|espalda"
            r"|muelas|est[óo]mago|garganta|barriga)|ill|covid|gastroenteritis|migraña|fiebre|anginas"
            r"|catarro)": "enfermedad",
            # "El viernes solo trabajo por la mañana" is an afternoon off.
            r"(?:s[óo]lo trabajo|trabajo s[óo]lo)((?: \S+){0,3}?) (?:por|en) la ma[ñn]ana": (
                r"\1 por la tarde"
            ),
            r"(?:s[óo]lo trabajo|trabajo s[óo]lo)((?: \S+){0,3}?) (?:por|en) la tarde": (
                r"\1 por la mañana"
            ),
            # "salir el jueves a mediodía", "me voy a mediodía el jueves".
            r"(?:salir|salgo|saldré|irme|me voy|marcharme)((?: (?!del\b|al \d)\S+){0,4}?)"
            r" (?:al? )?mediod[ií]a": r"\1 por la tarde",
            # "desde el viernes a mediodía", "hasta el 9 a mediodía".
            rf"({_FROM})((?: (?!al\b|hasta|-)\S+){{1,4}}?) (?:al? )?mediod[ií]a": (
                r"\1\2 por la tarde"
            ),
            r"(al|hasta(?: el)?|-)((?: \S+){1,4}?) (?:a |al )?mediod[ií]a": r"\1\2 por la mañana",
            r"(?:desde|a partir de|a partir del) (?:el )?mediod[ií]a": "por la tarde",
            r"(?:antes del?|hasta (?:el )?) ?mediod[ií]a": "por la mañana",
            # "el lunes 3" and "del 3 al 7": the days of a month.
            r"(el|del|al) d[ií]a(?= \d)": r"\1",
            rf"({_WEEKDAY}|el|los|del|al|y|-) (\d{{1,2}})"
            rf"(?![./]\d| (?:de )?{_MONTH}| ?{_UNIT}|\d|[º°])": r"\1 \2º",
        },
        periods=(
            ("month", r"todo (?:el mes de )?{month}|(?<!del )(?:el )?mes (?:entero )?de {month}"),
            ("first_week", r"(?:(?:en |durante )?la )?primera semana de(?:l mes de)? {month}"),
            ("last_week", r"(?:(?:en |durante )?la )?última semana de(?:l mes de)? {month}"),
            (
                "first_weeks",
                r"(?:(?:en |durante )?las )?(?:{number} primeras|primeras {number}) semanas"
                r" de(?:l mes de)? {month}",
            ),
            (
                "last_weeks",
                r"(?:(?:en |durante )?las )?(?:{number} últimas|últimas {number}) semanas"
                r" de(?:l mes de)? {month}",
            ),
            (
                "first_half",
                r"(?:(?:en |durante )?la )?primera (?:quincena|mitad) de(?:l mes de)? {month}",
            ),
            (
                "second_half",
                r"(?:(?:en |durante )?la )?segunda (?:quincena|mitad) de(?:l mes de)? {month}",
            ),
        ),
        next_year=("del? (?:el )?(?:año que viene|próximo año|año próximo)",),
        asked_periods=(
            ("month", r"(?:(?:en|durante|para|del?) (?:el )?(?:mes de )?)?{month}"),
            ("this_month", r"(?:en |durante )?este mes"),
            ("next_month", r"(?:en |durante )?(?:el )?(?:próximo mes|mes que viene|mes próximo)"),
            ("christmas", r"(?:en|por|durante) (?:las )?navidad(?:es)?"),
        ),
        lookalikes=frozenset(
            ("partes", "cartas", "lunas", "mazo", "soy", "banana", "entero", "entera", "tardo")
            + ("nieves", "sexta", "mago", "cena", "temas", "semanal", "enfermera", "enfermero")
            + ("maraña", "montaña", "vieron", "martas", "agotado", "días", "baila", "bala", "caja")
        ),
        rest_of_week=(
            "(?:el )?resto de (?:la|esta) semana",
            "lo que (?:queda|resta) de (?:la |esta )?semana",
        ),
        week_after_next=(
            "(?:la )?semana (?:siguiente|después) (?:a|de) la próxima",
            "(?:la )?semana que viene no,? la (?:otra|siguiente)",
        ),
        errands=(
            "(?:tengo )?(?:una? |el |la )?(?:cita(?: (?:con|en) (?:el|la) \\w+| m.dica)?"
            "|m.dico"
            "|dentista|mudanza|boda)",
            "(?:mi )?(?:hij[oa]|niñ[oa]|peque)(?: está| tiene)? (?:enferm[oa]|mal[oa]?|fiebre)",
        ),
        past=frozenset(("estaba", "estuve", "estado")),
        ahead=(
            "no (?:puedo|podré|iré|vendré|voy)",
            "estaré",
            "faltaré",
            "voy a",
            "necesito",
            "quiero",
            "quisiera",
        ),
        holiday_names={
            "nochebuena": "24 december",
            **dict.fromkeys(("navidad", "navidades", "día de navidad"), "25 december"),
            **dict.fromkeys(("nochevieja", "fin de año"), "31 december"),
            **dict.fromkeys(("año nuevo", "día de año nuevo"), "1 january"),
            **dict.fromkeys(("reyes", "día de reyes", "reyes magos", "epifanía"), "6 january"),
            **dict.fromkeys(("día del trabajo", "día del trabajador"), "1 may"),
            **dict.fromkeys(("día de la hispanidad", "hispanidad", "el pilar"), "12 october"),
            **dict.fromkeys(("todos los santos", "día de todos los santos"), "1 november"),
            **dict.fromkeys(("día de la constitución", "la constitución"), "6 december"),
            **dict.fromkeys(("inmaculada", "la inmaculada"), "8 december"),
            **dict.fromkeys(("asunción", "la asunción"), "15 august"),
            "viernes santo": "good friday",
            "jueves santo": "maundy thursday",
            "lunes de pascua": "easter monday",
        },
    )


_IN: Final = r"(?:aquí|en la oficina|disponible|localizable|trabajando|presente|de vuelta)"
_MINE: Final = rf"(?:mis?|las|los|la|el) (?:{_LEAVE}|solicitud(?:es)?)"
_MAY: Final = r"(?:(?:puedo|podría|quiero|quisiera|necesito|me gustaría|tengo que|cómo puedo) )?"
_IN_YEAR: Final = r"(?P<rest> (?:(?:en|para) )?20\d\d)?"
_SHOW: Final = (
    r"(?:(?:ver|muestra(?:me)?|muéstrame|enséñame|dime|dame|lista(?:r)?|cuál es|cuáles son"
    r"|consultar) )?"
)

PHRASES: Final = Phrases(
    commands=(
        (
            "help",
            r"ayuda(?:me|r)?|ayúdame|comandos|qué (?:puedo|puedes|sabes) (?:hacer|preguntar)"
            r"|cómo (?:funciona|funcionas|se usa)(?: esto)?",
        ),
        (
            "balance",
            rf"{_SHOW}(?:(?:mi|mis|el|los) )?saldos?(?: (?:de|del|de mis) {_LEAVE})*"
            r"(?: (?:de|para)(?= 20\d\d))?(?P<rest> .*)?",
        ),
        (
            "balance",
            rf"{_SHOW}cuánt[oa]s? .*\b(?:quedan?|quedarán|tengo|tendré|restan?|sobran?"
            r"|disponibles?)\b.*?"
            rf"{_IN_YEAR}",
        ),
        (
            "balance",
            rf"(?:me|nos) quedan? (?:aún |todavía )?(?:\S+ )?(?:días|vacaciones)\b.*?{_IN_YEAR}",
        ),
        (
            "balance",
            r"cuánt[oa]s? (?=.*\b(?:he|mis|me)\b).*\b(?:usad|gastad|cogid|disfrutad"
            r"|aprobad)[oa]s\b.*",
        ),
        ("balance", rf"(?:días|vacaciones) (?:restantes|disponibles|que me quedan){_IN_YEAR}"),
        (
            "out",
            rf"quién(?:es)? (?:más )?(?:está|estará|están|estarán|estaba|va a estar|hay)"
            rf"(?P<before> .*?)?? {_OFF}(?P<rest> .*)?",
        ),
        (
            "out",
            r"quién(?:es)? no (?:está|estará|están|estarán|viene|vienen|vendrá|trabaja|trabajan)"
            r"(?: en la oficina| disponible)?(?P<rest> .*)?",
        ),
        (
            "out",
            r"quién(?:es)? (?:falta|faltan|faltará|faltarán|libra|libran|teletrabaja|teletrabajan)"
            r"(?P<rest> .*)?",
        ),
        (
            "out",
            r"quién(?:es)? (?:está|estará|están|estarán|viene|vienen|trabaja|trabajan)"
            rf"(?P<before> .*?)?? {_IN}(?P<rest> .*)?",
        ),
        ("out", r"quién(?:es)? (?:trabaja|trabajan|viene|vienen)(?P<rest> .*)?"),
        ("out", r"quién(?:es)? (?:tiene|tienen) (?:vacaciones|libre|fiesta)(?P<rest> .*)?"),
        (
            "out",
            rf"(?:hay|está|estará) alguien(?: más)?(?P<before> .*?)?? {_OFF}(?P<rest> .*)?",
        ),
        (
            "out",
            # "Fuera del 21 al 24" is leave.
            r"(?:fuera(?! (?:del?|desde) .*\b(?:al?|hasta)\b)|ausentes"
            r"|(?:las )?ausencias(?: del equipo)?)(?P<rest> .*)?",
        ),
        (
            "mine",
            r"mías|"
            rf"{_SHOW}mis (?:vacaciones|ausencias|solicitudes|permisos|bajas|días libres)"
            r"(?: (?:próximas|futuras|pendientes|reservadas|pedidas|aprobadas))?",
        ),
        (
            "mine",
            rf"cuándo (?:estoy|estaré|tengo|tendré|son|es|me voy|me toca|cojo|empiezan)(?: .*)?"
            rf" ?\b(?:{_OFF}|{_LEAVE})(?: .*)?",
        ),
        (
            "mine",
            r"(?:está|están|ha sido|han sido|me han|han) (?:ya )?(?:aprobad|aceptad"
            r"|rechazad)[oa]s? (?:ya )?"
            r"mis? (?:vacaciones|solicitud(?:es)?|permisos?|ausencias?)(?: .*)?",
        ),
        ("mine", r"qué (?:\S+ )?tengo (?:reservad|pedid|solicitad)[oa]s?(?: .*)?"),
        (
            "cancel",
            r"(?:(?:quiero|quisiera|puedo|necesito|me gustaría|tengo que) )?"
            r"(?:cancelar?|anular?)(?:me)?(?: .*)?",
        ),
    ),
    greetings=(
        *("hola", "buenas", "buenos días", "buenas tardes", "buenas noches", "oye", "perdona"),
        *("por favor", "porfa", "gracias", "disculpa", "perdón", "una pregunta", "pregunta"),
    ),
    subjects=("yo", "nosotros", "tú", "él", "ella", "ellos", "ellas", "alguien", "mis"),
    asking=(
        "quién(?:es)?|cuándo|cómo|cuánt[oa]s?|cuál(?:es)?|dónde|por qué|a quién|de quién",
        r"qué (?!tal)|hay (?:alguien|algún|alguna)|(?:sabes|dime|me dices) (?:si|cuándo|quién)",
        "(?:me |nos )quedan?|(?:está|estará|están|estaba|vuelve|viene|trabaja) \\w+ (?:hoy|mañana)",
    ),
    asking_verbs=(),
    requesting=(
        "(?:me )?(?:puedo|podría|podemos|podríamos)|(?:es|sería) posible|se puede|me pregunto",
        "(?:te|os|le) importa(?:ría)? (?:si|que)|(?:hay|habría) (?:algún )?problema (?:si|en)",
        "(?:puedes|podrías|pueden) (?:darme|cogerme|ponerme|apuntarme|reservarme|pedirme)",
    ),
    requesting_verbs=(),
    worked=r"(?:(?:yo )?he trabajado|trabajé)",
    from_home=(r"(?:desde|en) (?:mi )?casa", "en remoto", "a distancia"),
    before_amount=("por", "durante"),
    before_reason=("por", "porque", "para", "debido a"),
    day_units=("días?", "jornadas?"),
    half=r"(?:un )?medio(?: día)?|(?:una )?media(?: jornada)?",
    one="una?",
    two="dos",
    off=(rf"(?:está|estará)|{_OFF}",),
    home_office=(
        r"tele[ -]?trabaj(?:o|ar|aré|ando)",
        r"(?:trabaj(?:o|ar|aré|ando) )?desde casa|trabaj(?:o|ar|aré|ando) en (?:casa|remoto)",
        r"en remoto",
    ),
    home_office_fillers=frozenset(("trabajo", "trabajar", "trabajaré", "hago", "haré")),
    questions=(
        (
            "holidays",
            r"(?:(?:cuándo|cuál|qué) es |cuáles son |cuándo son )?(?:(?:el|los) )?"
            r"(?:próximos?|siguientes?) (?:días? )?festivos?",
        ),
        (
            "holidays",
            r"(?:(?:qué|cuáles son|cuándo son|ver|muestra) )?(?:los )?(?:días )?festivos"
            r"(?: (?:hay|tenemos|quedan))?{when}",
        ),
        ("holiday", r"(?:es|era|será|hay) {before}(?:un |día )*(?:festivo|fiesta){when}"),
        ("holiday", r"{before}(?:es|será) (?:un |día )*(?:festivo|fiesta)"),
        ("me", rf"¿(?:estoy|estaré|voy a estar) (?:{_OFF}|{_IN}){{when}}"),
        ("me", r"¿(?:trabajo|trabajaré|libro|libraré){when}"),
        ("me", r"¿tengo {before}(?:libre|el día libre){when}"),
        ("me", r"(?:tengo que|me toca) (?:ir a )?(?:trabajar|la oficina){when}"),
        (
            "booked",
            r"(?:qué tengo|tengo (?:algo|vacaciones|días)|hay algo) (?:ya )?"
            r"(?:reservad|pedid|previst|solicitad)[oa]s?(?: para mí)?{when}",
        ),
        ("approvers", rf"quién(?:es)? (?:aprueban?|deciden?(?: sobre)?|autorizan?) {_MINE}"),
        (
            "change",
            rf"{_MAY}(?:cambiar?|mover|mueve|modificar?|editar?|alargar?|ampliar|amplía|acortar?|aplazar?"
            rf"|adelantar?|retrasar?|pasar?)"
            rf" {_MINE}{{when}}",
        ),
        (
            "cancel",
            rf"{_MAY}(?:cancelar?|anular?|borrar?|eliminar?|retirar?|quitar?) {_MINE}{{when}}",
        ),
        (
            "cancel",
            rf"(?:al final,? )?(?:ya )?no (?:necesito|me hacen? falta)(?: {_MINE})?(?P<when> .*?)??"
            r"(?:,? (?:an[úu]l|canc[ée]l|b[óo]rr|qu[íi]t)a(?:r)?l[oa]s?)?",
        ),
        (
            "person_back",
            r"cuándo (?:vuelve|volverá|regresa|regresará|se reincorpora|está de vuelta) {who}",
        ),
        (
            "person_back",
            rf"hasta cuándo (?:está|estará|falta) (?:{_OFF} )?{{who}}(?: {_OFF})?",
        ),
        ("person_in", rf"(?:está|estará|estaba) {{who}} {{before}}(?:{_OFF}|{_IN}){{when}}"),
        ("person_in", rf"(?:está|estará|estaba) (?:{_OFF}|{_IN}) {{who}}"),
        ("person_in", rf"¿{{who}} (?:está|estará) {{before}}(?:{_OFF}|{_IN}){{when}}"),
        ("person_in", r"¿{who} (?:viene|vendrá|trabaja|trabajará|falta|libra){when}"),
        ("person_in", r"tiene {who} (?:vacaciones|libre|el día libre){when}"),
        ("person_in", r"(?:está|estará|viene|vendrá|trabaja|falta|libra) {who}{when}"),
        ("person_in", rf"cuándo (?:está|estará|libra) {{who}}(?: {_OFF})?{{when}}"),
        ("person_back", rf"cuándo (?:tiene|coge|tendrá) {{who}} {_LEAVE}"),
        ("person_back", r"ha vuelto (?:ya )?{who}"),
        ("person_back", rf"cuándo (?:tiene|coge|tendrá|se va de) {_LEAVE} {{who}}"),
    ),
    in_english={
        **dict.fromkeys(("solicitar", "solicitud", "pedir"), "request"),
        "ayuda": "help",
        "saldo": "balance",
        **dict.fromkeys(("fuera", "ausentes", "ausencias"), "out"),
        **dict.fromkeys(("mías", "mis vacaciones", "mis ausencias", "mis solicitudes"), "mine"),
        "cancelar": "cancel",
        "calendario": "calendar",
        **dict.fromkeys(("equipo", "mi equipo"), "team"),
        "departamento": "department",
        **dict.fromkeys(("todos", "todo el mundo"), "everyone"),
        "hoy": "today",
        "ahora": "now",
        **dict.fromkeys(("semana", "esta semana"), "this week"),
        **dict.fromkeys(("próxima semana", "la próxima semana"), "next week"),
        **dict.fromkeys(("semana que viene", "la semana que viene"), "next week"),
        **dict.fromkeys(("semana pasada", "la semana pasada"), "last week"),
        "este año": "this year",
        **dict.fromkeys(("el año que viene", "el próximo año", "próximo año"), "next year"),
        **dict.fromkeys(("el año pasado", "año pasado"), "last year"),
    },
)
