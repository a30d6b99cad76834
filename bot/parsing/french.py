"""The French vocabulary and phrases. Keys are casefolded; some entries are regular expressions."""

from __future__ import annotations

from functools import cache
from typing import Final

from bot.parsing.vocabulary import MAIN, Phrases, Words, names

_WEEKDAY: Final = (
    r"(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lun|mar|mer|jeu|ven|sam|dim)\.?"
)
_MONTH: Final = (
    r"(?:janvier|f[ée]vrier|mars|avril|mai|juin|juillet|ao[ûu]t|septembre|octobre|novembre"
    r"|d[ée]cembre|janv?|f[ée]vr?|avr|juil|sept?|oct|nov|d[ée]c)\b\.?"
)
_DAY: Final = rf"(?:{_WEEKDAY}|\d[\d/.-]*(?:er)?|aujourd'hui|demain|apr[èe]s-demain|no[ëe]l)"
_FROM: Final = r"[àa] partir d[eu]|depuis|d[èe]s|du|de"
_OF: Final = "(?:de |d')?"
_UNIT: Final = r"(?:jours?|journ[ée]es?|demi|semaines?|mois|ans?|h\b|heures?|min)"
_NEXT: Final = r"(?:prochaine?s?|pro)"
_LAST: Final = r"(?:derni[èe]re?s?|pass[ée]e?s?)"
_OFF: Final = (
    r"(?:absente?s?|(?:en|de|sur) (?:congés?|vacances|arrêt(?: maladie)?|rtt|cp|repos)|off|malades?"
    r"|parti(?:e?s)?|indisponibles?|hors du bureau|en télétravail)"
)
_LEAVE: Final = (
    r"(?:congés?(?: payés?| annuels?)?|vacances|cp|rtt|jours?(?: de (?:congés?|repos))?)"
)


def _genders(*stems: str) -> tuple[str, ...]:
    """Adjectives as they agree: ``prochain``, ``prochaine``, ``prochains``, …"""
    return tuple(stem + ending for stem in stems for ending in ("", "e", "s", "es"))


@cache
def french() -> Words:
    return Words(
        months=names("fr", "months") | {"fév": 2, "jan": 1, "sep": 9},
        weekdays=names("fr", "days"),
        days_from_today={
            **dict.fromkeys(("avant-hier", "avant hier"), -2),
            "hier": -1,
            **dict.fromkeys(("aujourd'hui", "aujourdhui", "ajd", "auj"), 0),
            "demain": 1,
            **dict.fromkeys(("après-demain", "après demain"), 2),
        },
        halves={
            **dict.fromkeys(("matin", "matinée"), "am"),
            **dict.fromkeys(("après-midi", "après midi", "aprèm", "aprem"), "pm"),
        },
        unnamed_halves=(r"demie?[- ]?journée",),
        numbers={
            "un": 1,
            "une": 1,
            "deux": 2,
            "trois": 3,
            "quatre": 4,
            "cinq": 5,
            "six": 6,
            "sept": 7,
            "neuf": 9,
            "dix": 10,
        },
        which_week={
            **dict.fromkeys(("ce", "cet", "cette"), "this"),
            # For "vendredi prochain" some people mean the coming one, some that of the next week.
            **dict.fromkeys(_genders("prochain"), "next_or_coming"),
            **dict.fromkeys(("dernier", "dernière", "derniers", "dernières"), "last"),
        },
        to=("au", "jusqu'au", "jusqu'à", "jusque", "jusqu'en"),
        since=("depuis", "depuis le"),
        starting=("à partir de", "à partir du", "à compter de", "à compter du", "dès", "dès le"),
        within=("dans",),
        one_day=("jour", "journée"),
        day_units=("jour", "jours", "journée", "journées"),
        week_units=("semaine", "semaines", "sem"),
        week_of=(r"(?:la )?semaine (?:du|commençant le|qui commence le|débutant le)",),
        numbered_week=("semaine", "semaine n°", "semaine numéro", "sem", r"sem\.", "s"),
        before=("avant", "avant le", "précédant"),
        after=("après", "après le", "suivant"),
        back=(
            *("de retour", "retour", "de retour au bureau", "reprise", "reprends", "reprendrai"),
            *("reviens", "reviendrai", "rentre", "rentrerai", "retour au bureau"),
        ),
        ordinal_endings=("er", "e"),
        articles=("le",),
        exceptions=frozenset(
            ("chaque", "excepté", "exceptés", "hormis", "hors", "mais", "ne", "ni", "non", "ou")
            + ("pas", "sans", "sauf", "sur", "tous", "toutes", "exclu", "exclus", "ici", "pont")
        ),
        also=("et",),
        reasons=(
            *("parce que", "car", "à cause de", "en raison de", "suite à", "pour cause de"),
            r"pour(?=\s(?:raisons?|motifs?|(?:un |une |mon |des )?"
            r"(?:rendez-vous|rdv|déménagement|examens?|formation|démarches?))\b)",
        ),
        moving=frozenset(
            ("midi", "minuit", "soir", "soirée", "nuit", "matins", "après-midis", "jours", "mois")
            + ("an", "ans", "année", "années", "heure", "heures", "h", "minute", "minutes")
            + ("tôt", "tard", "bientôt", "seulement", "uniquement", "week-end", "weekend", "we")
            + ("week-ends", "weekends", "peut-être", "éventuellement", "veille", "lendemain")
            + ("surlendemain", "début", "fin", "mi", "milieu", "courant", "moitié", "quinzaine")
            + ("huit", "quinze", "huitaine", "jamais", "toujours", "souvent", "reste", "environ")
            + ("plutôt", "aucun", "aucune", "autre", "autres", "ouvrables", "suivant", "suivante")
            + ("suivants", "précédent", "précédente", "encore", "plus", "moins", "trimestre")
            + ("premier", "première", "second", "seconde", "semaines", "semaine", "jour", "journée")
        ),
        fillers=frozenset(
            ("à", "ai", "aller", "au", "aux", "avoir", "c'est", "de", "des", "demande", "du")
            + ("en", "est", "être", "faire", "inclus", "incluse", "compris", "comprise", "je")
            + ("jour", "la", "le", "les", "ma", "me", "mes", "moi", "mon", "off", "ouvrés", "par")
            + ("absence", "absences", "absent", "absente", "bloquer", "congé", "indisponible")
            + ("pars", "partir", "pendant", "pose", "poser", "poserai", "pour", "prendrai")
            + ("prendre", "prends", "repos", "réserver", "serai", "suis", "toute", "un", "une")
            + ("vais", "durant", "souhaite", "veux", "voudrais", "demander", "mettre", "déposer")
            + ("va", "y", "besoin", "été", "étais")
        ),
        leave_words=frozenset(("congé", "congés", "vacances", "cp", "payé", "payés", "annuels")),
        type_words={
            **dict.fromkeys(("congé", "congés", "vacances", "cp"), MAIN),
            **dict.fromkeys(
                ("malade", "maladie", "arrêt", "grippe", "souffrant", "migraine", "fièvre"), "sick"
            ),
            **dict.fromkeys(("souffrante", "gastro"), "sick"),
            "sans-solde": "unpaid",
            "rtt": "rtt",
            **dict.fromkeys(("maternité", "paternité", "parental"), "parental"),
            **dict.fromkeys(("deuil", "décès", "obsèques", "enterrement"), "compassionate"),
        },
        courtesies=(
            *("bonjour", "bonsoir", "salut", "coucou", "hello", "cher hiatus", "bonne journée"),
            *("s'il (?:vous|te) plaît", "svp", "stp", "merci", "merci (?:beaucoup|bien)"),
            *(
                "merci d'avance",
                "merci par avance",
                "d'avance merci",
                "bien à vous",
                "cordialement",
            ),
            *(
                "cdt",
                "bonne soirée",
                "si possible",
                "(?:serait-ce |c'est )?possible",
                "si c'est possible",
                "ok pour vous",
            ),
            *("puis-je", "pourrais-je", "(?:est-ce que )?je (?:peux|pourrais)", "peut-on"),
            "(?:(?:pourriez|pouvez)-vous|(?:peux|pourrais)-tu|tu (?:peux|pourrais)"
            "|vous (?:pouvez|pourriez))(?: m'| me)?",
            *("aussi", "également", "normalement", "j'espère"),
            "(?:mets|mettez|note|notez|pose|posez|réserve|réservez)-moi",
            "(?:tous (?:les )?deux |les deux (?:jours )?)?(?:inclus|compris)e?s?",
            *("finalement", "grâce à vous"),
            "(?:pose|posez)-moi",
            "(?:je )?ne (?:viens|viendrai|travaille|travaillerai) pas",
            *("(?:est-il|est-ce|serait-il|serait-ce|c'est) possible de", "j'aimerais(?: bien)?"),
            "je (?:voudrais|souhaite|souhaiterais|veux|compte|pense|prévois)(?: bien)?",
            *("je (?:vais|dois)", "j'ai besoin (?:de|d')", "besoin de", "je vous demande"),
            *("je (?:suis|serai|pars|pose|prends|prendrai|poserai|demande)", "j'ai"),
            "(?:je )?(?:ne |n')?(?:serai|suis) pas (?:là|dispo(?:nible)?|au bureau|joignable)",
            *(
                "pas (?:là|dispo(?:nible)?|au bureau)",
                "toute la journée",
                "(?:la )?journée entière",
            ),
            *("journée complète", "veuillez", "noter?", "mettez-moi", "merci de noter"),
            *("hors du bureau", "en mon absence", "(?:une|ma) demande de"),
            "(?:je )?(?:reste|resterai) (?:chez moi|[àa] la maison|au lit)",
        ),
        rewrites={
            # "l'après-midi d'aujourd'hui", "j'étais"; "jour de l'an" is a name.
            r"[djmnsct]'(\S+)": r"\1",
            r"l'(apr[èe]s\S*|aprem|absence|arr[êe]t|autre)": r"\1",
            r"(?:je )?(?:ne )?me sens (?:très |plutôt )?(?:mal|pas (?:très )?bien)": "malade",
            r"(?:(?:j'ai|avec) )?(?:(?:une?|le|la|de la|du|des) )?(?:(?:grosse|gros|forte?|sale"
            r"|petite?|mauvaise?) )?(?:ill|migraine|fièvre|grippe|gastro|angine|rhume|covid"
            r"|mal (?:de|à la|au) (?:tête|ventre|dos|gorge|dents))": "malade",
            r"(?:je )?(?:ne )?(?:suis |vais )?pas (?:très |trop |vraiment )?bien": "malade",
            # "Vendredi je ne travaille que le matin" is an afternoon off.
            r"(?:je )?(?:ne )?travaille(?:rai)?((?: \S+){0,3}?) (?:que|seulement|uniquement)"
            r"(?: le| au)? matin": r"\1 après-midi",
            r"(?:je )?(?:ne )?travaille(?:rai)?((?: \S+){0,3}?) (?:que|seulement|uniquement)"
            r"(?: l')?(?: au| le)? ?(?:apr[èe]s-midi|apr[èe]m)": r"\1 matin",
            r"ce matin": "aujourd'hui matin",
            r"cet? (apr[èe]s[- ]midi|apr[èe]m)": r"aujourd'hui \1",
            r"[àa] la mer": "",
            # "du 21/12 au 01/01" says which days these are.
            rf"vacances {_OF}(?:no[ëe]l|p[âa]ques|la toussaint|f[ée]vrier|printemps|[ée]t[ée])": (
                "vacances"
            ),
            r"(?:au|le) (matin|matinée)": r"\1",
            r"(?:congés? )?sans soldes?": "sans-solde",
            r"(?:arr[êe]t(?:[ée]e?)?|cong[ée]s?) maladie": "maladie",
            r"cong[ée]s? (?:pay[ée]s?|annuels?)": "congés",
            rf"({_WEEKDAY}) (et|-|au|[àa]) ({_WEEKDAY}) prochaine?s": r"prochain \1 \2 prochain \3",
            rf"({_WEEKDAY}) {_NEXT}": r"prochain \1",
            rf"({_WEEKDAY}) {_LAST}": r"dernier \1",
            rf"(?:de |en )?(?:la )?semaine {_NEXT}": "prochaine semaine",
            rf"(?:de )?(?:la )?semaine {_LAST}": "dernière semaine",
            r"entre (\S.*?) et(?: le| la)?": r"\1 -",
            rf"(?:de |du )?({_DAY}(?: \S+){{0,3}}?) [àa](?= (?:ce |prochain |le )?{_DAY})": r"\1 -",
            # "à partir de vendredi midi", "jusqu'au 9 midi".
            rf"({_FROM})((?: (?!au\b|jusqu|-)\S+){{1,4}}?) midi": r"\1\2 après-midi",
            r"(au|jusqu'au|jusqu'[àa]|-)((?: \S+){1,4}?) midi": r"\1\2 matin",
            r"(?:[àa] partir de|d[èe]s) midi": "après-midi",
            r"(?:avant|jusqu'[àa]) midi": "matin",
            # "partir jeudi à midi", "je pars à midi jeudi".
            r"(?:pars|partir|partirai|quitter|quitte|finir|finis)((?: (?!du\b|au\b)\S+){0,4}?)"
            r" (?:à|vers) midi": r"\1 après-midi",
            # "lundi 3" and "du 3 au 7": the days of a month.
            rf"({_WEEKDAY}|le|les|du|au|et|-) (\d{{1,2}})(?![./]\d| {_MONTH}| ?{_UNIT})": r"\1 \2e",
        },
        rest_of_week=(
            "(?:le )?reste de la semaine",
            "(?:jusqu'à )?(?:la )?fin de (?:la|cette) semaine",
        ),
        week_after_next=("(?:la )?semaine d'après la prochaine",),
        errands=(
            "(?:j['’]ai )?(?:une? |mon |le )?(?:(?:rdv|rendez-vous)(?: (?:chez|avec) (?:(?:le|la"
            "|mon|ma) )?\\w+"
            "| (?:m.dical|m.decin|dentiste))?|dentiste|m.decin|d.m.nagement"
            "|mariage)",
            "(?:(?:mon|ma|mes) )?(?:enfants?|fils|fille|bébé)(?: est| sont| a| ont)?"
            "(?: malades?|(?: de la)? fièvre)",
        ),
        past=frozenset(("étais", "était", "été")),
        ahead=(
            "viendrai",
            "serai",
            "vais",
            "travaillerai",
            "pourrai",
            "ne peux",
            "voudrais",
            "puis-je",
        ),
        week_after=("en huit",),
        periods=(
            ("month", rf"(?:tout(?: le mois)?|le mois entier|l'ensemble du mois) {_OF}{{month}}"),
            ("first_week", rf"(?:la )?(?:première|1ère|1re) semaine (?:du mois )?{_OF}{{month}}"),
            ("last_week", rf"(?:la )?dernière semaine (?:du mois )?{_OF}{{month}}"),
            (
                "first_weeks",
                rf"(?:les )?(?:{{number}} premières|premières {{number}}) semaines (?:du mois )?"
                rf"{_OF}{{month}}",
            ),
            (
                "last_weeks",
                rf"(?:les )?(?:{{number}} dernières|dernières {{number}}) semaines (?:du mois )?"
                rf"{_OF}{{month}}",
            ),
            (
                "first_half",
                rf"(?:la )?(?:première|1ère|1re) (?:quinzaine|moitié) (?:du mois )?{_OF}{{month}}",
            ),
            (
                "second_half",
                rf"(?:la )?(?:seconde|deuxième|dernière|2e|2ème) (?:quinzaine|moitié) (?:du mois )?"
                rf"{_OF}{{month}}",
            ),
        ),
        next_year=("(?:de )?l'(?:année prochaine|an prochain)",),
        asked_periods=(
            (
                "month",
                r"(?:(?:en|pour|[ad]u mois de|[ad]u mois d'|courant|pendant|de|d') ?)?{month}",
            ),
            ("this_month", r"(?:pour )?ce mois(?:-ci)?"),
            ("next_month", r"(?:le )?mois prochain"),
            ("christmas", r"(?:à|pour|pendant|vers) noël|(?:pendant|pour) les fêtes"),
        ),
        lookalikes=frozenset(
            ("congres", "congrès", "marin", "martin", "mutin", "satin", "serein", "vacantes")
            + ("malaise", "journal", "demeure", "domaine", "retard")
        ),
        holiday_names={
            **dict.fromkeys(("veille de noël", "réveillon de noël"), "24 december"),
            **dict.fromkeys(("noël", "jour de noël"), "25 december"),
            **dict.fromkeys(("saint-sylvestre", "veille du jour de l'an"), "31 december"),
            **dict.fromkeys(("nouvel an", "jour de l'an"), "1 january"),
            **dict.fromkeys(("fête du travail", "premier mai"), "1 may"),
            "assomption": "15 august",
            "toussaint": "1 november",
            "armistice": "11 november",
            "vendredi saint": "good friday",
            "lundi de pâques": "easter monday",
            **dict.fromkeys(("ascension", "l'ascension", "jeudi de l'ascension"), "ascension day"),
            "lundi de pentecôte": "pentecost monday",
            "fête nationale": "national day",
        },
    )


# Not a pronoun or another word that names no one.
_NAME: Final = (
    r"(?!(?:je|tu|il|elle|on|nous|vous|ils|elles|ce|ça|c'est|qui|quand|mon|ma|mes|le|la|les|un|une"
    r"|de|du|des|tout|toute|quelqu'un|personne|pas|en|demain|aujourd'hui|lundi|mardi|mercredi"
    r"|jeudi|vendredi|samedi|dimanche)\b){who}"
)
_IN: Final = r"(?:là|présente?|au bureau|disponible|au travail)"
_MAY: Final = (
    r"(?:(?:puis-je|peut-on|je (?:peux|voudrais|veux|dois|souhaite)|est-ce que je (?:peux|pourrais)"
    r"|comment (?:puis-je )?|il faut) ?)?"
)
_MINE: Final = (
    r"(?:mes (?:congés?|vacances|jours|demandes?|absences?)|ma demande|mon (?:congé|absence))"
)
_IN_YEAR: Final = r"(?P<rest> (?:(?:en|pour) )?20\d\d)?"
_SHOW: Final = r"(?:(?:voir|afficher?|montrez?(?:-moi)?|donnez?-moi|quel(?:le)? est|c'est quoi) )?"

PHRASES: Final = Phrases(
    commands=(
        (
            "help",
            r"aide(?:[rz]?(?:-moi)?)?|commandes|(?:que|qu'est-ce que) (?:puis-je|peux-tu|je peux) "
            r"(?:faire|taper|écrire)|comment (?:ça|cela) (?:marche|fonctionne)",
        ),
        (
            "balance",
            rf"{_SHOW}(?:(?:mon|mes|le) )?(?:soldes?|compteurs?)"
            rf"(?: (?:de|des|mes) {_LEAVE})*(?: restants?)?(?P<rest> .*)?",
        ),
        (
            "balance",
            r"combien .*\b(?:reste(?:nt)?|restera(?:-t-il)?|resteront|restants?|ai-je|j'ai"
            rf"|reste-t-il)\b.*?{_IN_YEAR}",
        ),
        ("balance", rf"(?:il )?(?:me |m'en )?reste(?:nt)? .*\bcombien\b.*?{_IN_YEAR}"),
        ("balance", r"(?:est-ce qu'il )?me reste(?:-t-il)? (?:encore |assez )*(?:de|des|d').*"),
        ("balance", rf"(?:congés|jours)(?: \S+)? restants{_IN_YEAR}"),
        (
            "balance",
            r"combien (?=.*\b(?:ai-je|j'ai|mes|mon)\b).*\b(?:pris|posée?s?|utilisée?s?)\b.*",
        ),
        (
            "out",
            rf"(?:qui|y a-t-il quelqu'un qui|est-ce que quelqu'un) (?:est|sera|sont|seront)"
            rf"(?P<before> .*?)?? (?:d')?{_OFF}(?P<rest> .*)?",
        ),
        (
            "out",
            rf"(?:y a-t-il|il y a|y a|est-ce qu'il y a) (?:quelqu'un|du monde|des gens)"
            rf"(?P<before> .*?)?? (?:d'|qui (?:est|sera) |de )?{_OFF}(?P<rest> .*)?",
        ),
        (
            "out",
            rf"qui (?:est|sera|vient|travaille)(?P<before> .*?)?? (?:{_IN})(?P<rest> .*)?",
        ),
        (
            "out",
            r"qui (?:n'est|ne sera|est|sera) pas (?:là|présente?|au bureau|dispo(?:nible)?)"
            r"(?P<rest> .*)?",
        ),
        ("out", r"qui (?:travaille|vient|travaillera|viendra)(?P<rest> .*)?"),
        (
            "out",
            r"qui (?:manque|prend (?:des congés|ses congés)|a posé(?: des congés)?)(?P<rest> .*)?",
        ),
        ("out", r"(?:les )?(?:absents|absences)(?: de l'équipe)?(?P<rest> .*)?"),
        ("mine", rf"{_SHOW}mes (?:{_LEAVE}|demandes?|absences)(?: (?:posés|prévus|à venir))?"),
        (
            "mine",
            r"(?:quand )?(?:est-ce que je suis|suis-je|serai-je|est-ce que je serai|je suis quand)"
            rf" (?:.* )?{_OFF}(?: .*)?",
        ),
        ("mine", rf"quand (?:sont|est|est-ce que je pars)(?: mes| mon)? (?:en )?{_LEAVE}(?: .*)?"),
        ("mine", rf"(?:ai-je|est-ce que j'ai) (?:.* )?(?:posé|{_LEAVE})(?: .*)?"),
        (
            "mine",
            r"(?:est-ce que )?(?:ma|mes|mon) (?:demandes?|congés?|vacances)(?: .*)? (?:est|sont"
            r"|a|ont)"
            r"(?:-elles?|-ils?)? (?:.* )?(?:été )?(?:approuvé|validé|accepté|refusé)e?s?(?: .*)?",
        ),
        ("cancel", r"annule[rz]?(?: .*)?"),
    ),
    greetings=(
        *("bonjour", "bonsoir", "salut", "coucou", "s'il (?:vous|te) plaît", "svp", "stp"),
        *("merci", "pardon", "excusez-moi", "désolée?", "petite question", "dites", "alors"),
    ),
    subjects=("je", "on", "nous", "vous", "il", "elle", "ils", "elles", "mes", "mon"),
    asking=(
        "il y a (?:quelqu'un|qui)",
        "qui|quand|comment|pourquoi|combien|quel(?:le)?s?|qu'est-ce|où est|où sont",
        "est-ce qu(?:'|e (?!je (?:peux|pourrais)))|y a-t-il|(?:me |m'en )?reste-t-il|il me reste",
        "(?:ai|suis|serai|dois|avais)-je|(?:est|sera|a-t|avait)-(?:il|elle|on)|avons-nous|avez-vous",
        "(?:pouvez-vous|peux-tu) me dire|dites-moi|savez-vous",
    ),
    asking_verbs=(),
    requesting=(
        "(?:puis|pourrais)-je|(?:est-ce que )?je (?:peux|pourrais)|peut-on|pourrait-on",
        "(?:est-il|est-ce|serait-il|serait-ce|c'est|ce serait) possible|je me demand\\w+",
        "ça (?:irait|va|vous va|dérange|vous dérange|pose problème) si",
        "(?:pouvez|pourriez)-vous|(?:peux|pourrais)-tu|tu (?:peux|pourrais)"
        "|vous (?:pouvez|pourriez)",
    ),
    requesting_verbs=(),
    worked=r"(?:(?:j'ai|ai) )?travaillé",
    from_home=(r"(?:de|depuis|à) (?:chez moi|la maison|distance|domicile)", "en télétravail"),
    before_amount=("pour", "pendant"),
    before_reason=("pour", "à cause de", "en raison de", "parce que", "car"),
    day_units=("jours?", "j", "journées?"),
    half=r"(?:une )?demie?[- ]?(?:journée)?",
    one="une?",
    two="deux",
    off=(rf"(?:est|sera|a)|{_OFF}",),
    home_office=(
        r"télé[ -]?travail(?:ler)?",
        r"travail(?:le|ler|lerai)? (?:à (?:distance|domicile)|de chez moi|(?:de|depuis) la maison)",
    ),
    home_office_fillers=frozenset(("travail", "travaille", "travaillerai", "travailler")),
    questions=(
        (
            "holidays",
            r"(?:(?:quand (?:est|sont)|quels? (?:est|sont)|c'est quand) )?(?:(?:le|les|nos) )?"
            r"prochains? (?:jours? )?fériés?",
        ),
        (
            "holidays",
            r"(?:(?:quels|quand) sont )?(?:(?:les|nos|mes) )?(?:jours )?fériés{when}",
        ),
        (
            "holiday",
            r"(?:est-ce que )?{before}(?:c'est|est|sera)(?:-ce|-il)? (?:un jour )?férié{when}",
        ),
        ("me", rf"(?:suis-je|serai-je|est-ce que je (?:suis|serai)) {_OFF}{{when}}"),
        # A pattern that begins with "¿" needs a question mark.
        ("me", rf"¿je (?:suis|serai) {_OFF}{{when}}"),
        ("me", r"(?:est-ce que je (?:dois )?|dois-je )(?:travaille|travailler|venir){when}"),
        (
            "booked",
            r"(?:qu'ai-je|ai-je quelque chose de|qu'est-ce que j'ai(?: de)?) (?:posé|prévu|réservé)"
            r"{when}",
        ),
        (
            "approvers",
            rf"qui (?:approuve|valide|décide de|doit approuver|doit valider) {_MINE}",
        ),
        ("approvers", r"qui (?:est|sont) (?:mon|mes) (?:approbateurs?|valideurs?)"),
        (
            "change",
            rf"{_MAY}(?:(?:déplace|modifie|change|décale|prolonge|avance|reporte)[rz]?"
            rf"|raccourci(?:r|s|ssez)) {_MINE}{{when}}",
        ),
        ("cancel", rf"{_MAY}(?:annule|supprime|retire)[rz]? {_MINE}{{when}}"),
        (
            "cancel",
            rf"(?:finalement,? )?(?:je )?n'ai (?:finalement )?(?:plus|pas) besoin"
            rf"(?: d[eu] (?:{_MINE}|(?:mon|ma) (?:jour|journée)(?: de {_LEAVE})?))?(?P<when> .*?)??"
            r"(?:,? (?:annule[rz]?|supprime[rz]?)(?:-l[ea]s?)?)?",
        ),
        (
            "person_back",
            rf"quand (?:est-ce que )?{_NAME} (?:revient|rentre|reviendra|rentrera|est de retour"
            r"|sera de retour){when}",
        ),
        (
            "person_back",
            rf"{_NAME} (?:revient|rentre|reviendra|rentrera|(?:est|sera) de retour) quand"
            rf"(?: d[eu] {_LEAVE})?",
        ),
        ("person_back", rf"{_NAME} (?:est|sera) {_OFF} quand"),
        ("person_back", rf"(?:est-ce que |¿){_NAME} est (?:déjà )?(?:rentrée?|revenue?|de retour)"),
        ("person_back", rf"{_NAME} (?:part|partira|prend) (?:en |ses |des ){_LEAVE} quand"),
        ("person_back", rf"quand (?:est-ce que )?{_NAME} (?:est|sera) {_OFF}"),
        (
            "person_back",
            rf"quand (?:est-ce que )?{_NAME} (?:part|partira|prend) (?:en |ses |des ){_LEAVE}",
        ),
        ("person_back", rf"quand (?:revient|rentre|reviendra|rentrera) {_NAME}"),
        ("person_back", rf"jusqu'à quand {_NAME} est(?:-il|-elle)? {_OFF}"),
        (
            "person_in",
            rf"est-ce que {_NAME} (?:est|sera) {{before}}(?:{_OFF}|{_IN}){{when}}",
        ),
        (
            "person_in",
            rf"{_NAME} (?:est|sera)(?:-t)?-(?:il|elle) {{before}}(?:{_OFF}|{_IN}){{when}}",
        ),
        ("person_in", rf"¿{_NAME} (?:est|sera) {{before}}(?:{_OFF}|{_IN}){{when}}"),
        ("person_in", rf"(?:est-ce que |¿){_NAME} (?:travaille|vient){{when}}"),
    ),
    in_english={
        **dict.fromkeys(("demande", "demander"), "request"),
        "aide": "help",
        "solde": "balance",
        **dict.fromkeys(("absents", "absences"), "out"),
        **dict.fromkeys(("mes congés", "mes demandes"), "mine"),
        "annuler": "cancel",
        "calendrier": "calendar",
        **dict.fromkeys(("équipe", "mon équipe"), "team"),
        "service": "department",
        **dict.fromkeys(("tous", "tout le monde"), "everyone"),
        "aujourd'hui": "today",
        "maintenant": "now",
        **dict.fromkeys(("semaine", "cette semaine"), "this week"),
        **dict.fromkeys(("semaine prochaine", "la semaine prochaine"), "next week"),
        **dict.fromkeys(("semaine dernière", "la semaine dernière"), "last week"),
        "cette année": "this year",
        **dict.fromkeys(("l'année prochaine", "l'an prochain", "année prochaine"), "next year"),
        **dict.fromkeys(("l'année dernière", "l'an dernier", "année dernière"), "last year"),
    },
)
