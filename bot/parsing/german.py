"""The German vocabulary. Keys are casefolded; some entries are regular expressions."""

from __future__ import annotations

from functools import cache
from typing import Final

from bot.parsing.vocabulary import MAIN, QuestionName, Words, names


def _forms(*stems: str) -> tuple[str, ...]:
    """German adjectives as they are declined: ``nächste``, ``nächsten``, ``nächster``, …"""
    return tuple(stem + ending for stem in stems for ending in ("e", "en", "er", "es", "em"))


_WEG: Final = (
    "(?:weg|abwesend|nicht da|nicht im büro|im urlaub|in urlaub|auf urlaub|krank|krankgeschrieben"
    "|frei|off|unterwegs)"
)
_DA: Final = (
    "(?:da|hier|im büro|im haus|in|verfügbar|erreichbar|anwesend|zurück|wieder da|arbeiten)"
)
_URLAUB: Final = (
    r"(?:\w*urlaub\w*|urlaubstage?|freien? tage?|anträge?|antrag|abwesenheit(?:en)?|ferien|frei"
    r"|buchung(?:en)?)"
)
_DARF: Final = (
    "(?:(?:kann|könnte|darf|dürfte|würde|möchte|will|muss) ich |ich (?:möchte|will|würde gerne?"
    "|muss|würde|kann) |wie kann ich |kannst du )?"
)
_VERSCHIEBEN: Final = (
    "(?:verschieb(?:e|en)?|änder[en]?|ändere|verlänger[en]?|verlängere|verkürz(?:e|en)?|kürz(?:e|en)?"
    "|anpassen|verleg(?:e|en)?|vorziehen|umbuchen|bearbeite[n]?"
    "|(?:nach (?:hinten|vorne?) )?(?:ver)?schieb(?:e|en)?)"
)
_STORNIEREN: Final = (
    "(?:stornier(?:e|en)?|absagen|sage?|lösch(?:e|en)?|zurückziehen|streich(?:e|en)?|zurücknehmen)"
)
# As in ``Phrases.questions``.
QUESTIONS: Final[tuple[tuple[QuestionName, str], ...]] = (
    (
        "holidays",
        r"(?:(?:wann|was) (?:ist|sind) )?(?:(?:der|die|unser|mein) )?(?:nächste[rn]?|kommende[rn]?)"
        r" (?:gesetzliche[rn]? )?feiertage?",
    ),
    (
        "holidays",
        r"welcher (?:gesetzliche )?feiertag (?:kommt|ist|steht) (?:als )?(?:nächste[rs]?"
        r"|jetzt|an)",
    ),
    (
        "holidays",
        r"(?:(?:welche|gibt es|zeige?(?: mir)?|wann sind) )?(?:die )?(?:gesetzlichen? )?feiertage"
        r"(?: (?:gibt es|haben wir|sind|kommen noch|stehen an))?"
        r"(?: (?:in )?diese[sm] jahr(?: noch)?)?{when}",
    ),
    ("holiday", r"(?:ist|war|wäre) {before}(?:ein |gesetzlicher )*feiertag{when}"),
    ("holiday", r"haben wir {before}frei{when}"),
    ("me", rf"(?:bin|war) ich {{before}}(?:{_WEG}|{_DA}){{when}}"),
    ("me", r"(?:hab|habe|hatte) ich {before}(?:frei|urlaub){when}"),
    (
        "booked",
        r"welche (?:urlaubs)?tage (?:hab|habe) ich {before}(?:schon )?(?:verplant|gebucht|frei"
        r"|geplant|eingetragen){when}",
    ),
    (
        "change",
        rf"{_DARF}(?:mein\w* |den )?(?:freien )?(?P<when>\S+ gegen .+) (?:ein|um)?tauschen",
    ),
    ("me", r"muss ich {before}(?:arbeiten|ins büro){when}"),
    ("me", r"arbeite ich{when}"),
    (
        "booked",
        r"(?:ist|hab|habe|steht) (?:ich )?{before}(?:schon )?(?:et|irgendet|irgend)?was "
        r"(?:schon )?(?:für mich )?(?:eingetragen|gebucht|geplant|eingeplant|vor){when}",
    ),
    (
        "booked",
        r"(?:was|welchen urlaub|wie viel urlaub) (?:ist|hab|habe) (?:ich )?{before}(?:für mich )?"
        r"(?:eingetragen|gebucht|geplant){when}",
    ),
    (
        "approvers",
        rf"wer (?:genehmigt|entscheidet über|bewilligt|gibt|muss) (?:mein\w*) {_URLAUB}"
        r"(?: (?:frei|genehmigen))?",
    ),
    ("approvers", r"wer genehmigt (?:das |es )?(?:für mich|bei mir)"),
    ("change", rf"{_DARF}(?:(?:mein\w*|den|die) )?{_URLAUB}{{when}} {_VERSCHIEBEN}"),
    ("change", rf"{_DARF}{_VERSCHIEBEN} (?:ich )?(?:mein\w*|den|die) {_URLAUB}{{when}}"),
    ("cancel", rf"{_DARF}(?:(?:mein\w*|den|die) )?{_URLAUB}{{when}} {_STORNIEREN}"),
    ("cancel", rf"{_DARF}{_STORNIEREN} (?:ich )?(?:mein\w*|den|die) {_URLAUB}{{when}}(?: ab)?"),
    ("cancel", r"storniere(?= .){when}"),
    (
        "cancel",
        rf"(?:(?:mein\w*|den|die) )?{_URLAUB}{{when}} (?:brauche?|benötige) ich (?:doch |jetzt )?"
        r"(?:nicht|keinen)(?: mehr)?",
    ),
    (
        "cancel",
        rf"(?:ich )?(?:brauche?|benötige) (?:ich )?(?:mein\w*|den|die) {_URLAUB}{{when}} (?:doch )?"
        r"nicht(?: mehr)?",
    ),
    (
        "person_back",
        rf"(?:ab )?wann (?:kommt|ist|wird) {{who}} (?:denn |eigentlich |endlich )?(?:wieder )?{_DA}"
        r"(?: sein)?",
    ),
    (
        "person_back",
        rf"(?:bis wann|wie lange) (?:ist|hat|fehlt|bleibt) {{who}}(?: noch)?(?: {_WEG})?",
    ),
    ("person_back", r"ist {who} schon (?:wieder )?zurück"),
    (
        "person_in",
        rf"(?:ist|war|wird) {{who}} {{before}}(?:schon |wieder |auch |noch )*(?:{_WEG}|{_DA})"
        r"{when}",
    ),
    ("person_in", r"hat {who} {before}(?:frei|urlaub){when}"),
    ("person_in", r"arbeitet {who}{when}"),
    ("person_in", r"(?:fehlt|kommt) {who}{when}"),
    (
        "person_back",
        rf"wann (?:ist|hat) {{who}} (?:wieder |eigentlich |das nächste (?:mal )?|als nächstes )*"
        rf"(?:{_WEG}|urlaub)",
    ),
    (
        "person_in",
        rf"wann (?:ist|hat) {{who}} (?:wieder |eigentlich |das nächste (?:mal )?)*{_WEG}{{when}}",
    ),
)


@cache
def german() -> Words:
    return Words(
        months=names("de", "months") | {"jänner": 1, "mrz": 3},
        weekdays=names("de", "days") | {"sonnabend": 5},
        days_from_today={"vorgestern": -2, "gestern": -1, "heute": 0, "morgen": 1, "übermorgen": 2},
        halves={
            "vormittag": "am",
            "vormittags": "am",
            "früh": "am",
            "nachmittag": "pm",
            "nachmittags": "pm",
        },
        unnamed_halves=(r"halbe[nrsm]?(?: tage?)?", "halbtags", "halb"),
        numbers={
            name: number
            for number, names in enumerate(
                (
                    *(
                        ("ein", *_forms("ein")),
                        ("zwei",),
                        ("drei",),
                        ("vier",),
                        ("fünf",),
                        ("sechs",),
                    ),
                    *(("sieben",), ("acht",), ("neun",), ("zehn",)),
                ),
                1,
            )
            for name in names
        },
        which_week={
            **dict.fromkeys(_forms("dies"), "this"),
            **dict.fromkeys(_forms("kommend"), "coming"),
            # For "nächsten Freitag" some people mean the coming one, some that of the next week.
            **dict.fromkeys(_forms("nächst"), "next_or_coming"),
            **dict.fromkeys(_forms("letzt", "vergangen", "vorig"), "last"),
        },
        to=("bis", "bis zum", "bis einschliesslich", "bis einschliesslich zum"),
        since=("seit", "seit dem"),
        starting=("ab", "ab dem", "von", "vom"),
        within=("in",),
        one_day=("tag",),
        day_units=("tag", "tage", "tagen"),
        week_units=("woche", "wochen"),
        week_of=("(?:in )?(?:der |die )?woche (?:vom|ab|ab dem)",),
        numbered_week=("kw", "kalenderwoche", "woche"),
        before=("vor", "vor dem"),
        after=("nach", "nach dem"),
        back=("zurück", "wieder da", "wieder hier", "wieder im büro", "wieder zurück"),
        ordinal_endings=(".",),
        articles=("den", "dem"),
        exceptions=frozenset(("außer", "ausser", "jeden", "nicht", "oder", "ohne", "über")),
        fillers=frozenset(
            (
                "an",
                "auf",
                "beantragen",
                "bin",
                "bitte",
                "brauche",
                "das",
                "dem",
                "den",
                "der",
                "die",
            )
            + (
                "einschliesslich",
                "es",
                "frei",
                "für",
                "gern",
                "gerne",
                "habe",
                "haben",
                "ich",
                "im",
                "lang",
                "mal",
                "mein",
            )
            + ("war", "meinen", "mir", "möchte", "nehme", "nehmen", "um", "und", "zum")
            + ("ein", *_forms("ein"))
        ),
        also=("und", "plus"),
        reasons=("weil", "wegen", "aufgrund"),
        moving=frozenset(
            ("mittag", "mittags", "mitternacht", "abend", "abends", "nacht", "nachts", "morgens")
            + ("stunde", "stunden", "std", "uhr", "minute", "minuten", "früher", "spät", "später")
            + ("bald", "nur", "wochenende", "monat", "monate", "monats", "jahr", "jahre", "täglich")
            + ("wöchentlich", "kein", "keine", "keinen", "statt", "stattdessen", "vielleicht")
            + ("evtl", "eventuell", "feierabend", "rest", "weiteres", "immer", "nie", "halb")
            + ("tag", "tage", "tagen", "woche", "wochen", "beide", "beiden", "doch")
        ),
        leave_words=frozenset(
            ("ferien", "urlaub", "urlaubstag", "jahresurlaub", "erholungsurlaub")
            + ("brückentag", "fenstertag")
        ),
        type_words={
            **dict.fromkeys(("ferien", "urlaub", "urlaubstag", "jahresurlaub"), MAIN),
            "erholungsurlaub": MAIN,
            **dict.fromkeys(("krank", "krankheit", "krankmeldung", "krankgeschrieben"), "sick"),
            **dict.fromkeys(
                (
                    "erkältet",
                    "grippe",
                    "erkältung",
                    "migräne",
                    "fieber",
                    "kopfschmerzen",
                    "kopfweh",
                    "magen-darm",
                ),
                "sick",
            ),
            **dict.fromkeys(("unbezahlt", *_forms("unbezahlt")), "unpaid"),
            **dict.fromkeys(("elternzeit", "mutterschutz"), "parental"),
            **dict.fromkeys(("sonderurlaub", "beerdigung", "trauerfall"), "compassionate"),
        },
        courtesies=(
            *("hallo", "moin", "servus", "guten morgen", "guten tag", "hi"),
            *("bitte", "danke", "vielen dank", "danke schön", "dankeschön", "besten dank"),
            *("danke (?:dir|euch|ihnen)", "(?:vielen )?dank(?:e)? im voraus", "lg", "vg", "merci"),
            *("liebe grüsse", "viele grüsse", "beste grüsse"),
            *("kann ich", "könnte ich", "darf ich", "dürfte ich", "würde(?: ich)?", "ich würde"),
            *("geht(?: es)?", "ginge(?: es)?"),
            "(?:(?:kannst|könntest) du|(?:können|könnten) sie)(?: (?:mir|mich))?",
            "(?:(?:mir|mich) )?(?:trage?|buche?|plane?|notiere?)(?: (?:mir|mich))?",
            *("auch", "ebenfalls", "hoffentlich"),
            *("ein(?:tragen|planen|buchen)", "als(?= urlaub| frei)", r"(?<=urlaub )ein"),
            *("wenn möglich", "falls möglich", "wäre es möglich", "voraussichtlich", "vermutlich"),
            *("(?:den )?ganzen tag", "ganztägig", "ganztags", "die ganze"),
            *("(?:ich )?wäre(?: ich)?", "nicht (?:da|im büro|im haus|verfügbar)"),
            *("ich hätte", "hätte ich", "hätte", "bekommen", "kriegen", "machen", "einreichen"),
            *("ich (?:könnte|kann|bräuchte)", "(?:ich )?bin (?:ich )?nicht (?:da|im büro)"),
            *(
                "freinehmen",
                "freihaben",
                "frei haben",
                "frei nehmen",
                "zu hause",
                "ich bin",
                "bin ich",
            ),
            *("weg", "abwesend", "urlaub machen", "brauch", "bräuchte", "hab", "nehm", "möcht"),
            "danach (?:bin ich )?(?:wieder (?:da|zurück|im büro)|zurück)",
            *(
                "ganze",
                "möglich",
                "raus",
                r"(?:beide(?: tage)? |jeweils )?(?:einschl\.?|inkl\.?|inklusive)",
                "(?:beide(?: tage)?|jeweils) einschliesslich",
                "ins büro",
                "(?:die |zur )?arbeit",
            ),
        ),
        rewrites={
            r"diesen (vormittag|nachmittag)": r"heute \1",
            r"zwischen den jahren": "27. dezember - 31. dezember",
            r"am heutigen tag": "heute",
            r"(?:mir )?(?:geht'?s )?(?:mir )?nicht (?:so |sehr |besonders |ganz )?(?:gut|wohl|fit)"
            r"": "krank",
            r"(?:mir )?geht'?s (?:mir )?schlecht": "krank",
            r"(?:starke |hohes |leichtes )?(?:ill|\w*schmerzen|\w*weh|fieber|covid(?:-19)?|corona"
            r"|durchfall|schnupfen|erbrechen)": "krank",
            # "Freitag nur vormittags arbeiten" is an afternoon off.
            r"(?:(?:ich )?arbeite(?: ich)?((?: \S+){0,3}?) )?nur (?:am )?vormittags?"
            r"(?: (?:arbeiten|da|hier|im büro))?": r"\1 nachmittag",
            r"(?:(?:ich )?arbeite(?: ich)?((?: \S+){0,3}?) )?nur (?:am )?nachmittags?"
            r" (?:arbeiten|da|hier|im büro)": r"\1 vormittag",
            r"(?:ich )?fühle? mich((?: [^\s,]+){0,2}?) (?:schlecht|krank|elend)": r"\1 krank",
            # "Ich komme heute nicht", "kann morgen nicht arbeiten": the days stay.
            r"(?:ich )?(?:komme?|kann|arbeite|bin|werde)((?: [^\s,]+){0,4}?) nicht"
            r"(?: (?:kommen|arbeiten|da|hier|im büro|zur arbeit|ins büro|sein|da sein))*": r"\1",
            r"(?:ich )?(?:bleibe?|bleib)((?: [^\s,]+){0,4}?) (?:zu ?hause|daheim|im bett)": r"\1",
            r"zwischen (\S.*?) und": r"\1 -",
            # "ab Mittwoch Mittag bis Freitag", "ich gehe am Freitag mittags".
            r"(ab|von|vom|seit)((?: (?!bis\b)\S+){1,5}?)(?: um)? mittags?": r"\1\2 nachmittag",
            r"bis((?: \S+){1,5}?)(?: um)? mittags?": r"bis\1 vormittag",
            r"(?:ich )?gehe?((?: \S+){0,4}?)(?: (?:ab|um|gegen))? mittags?"
            r"(?: (?:heim|nach hause))?": r"\1 nachmittag",
            r"(?:ich )?(?:komme?|bin|da) erst (?:ab |um |gegen )?mittags?(?: da)?": "vormittag",
            r"ab mittags?": "nachmittag",
            r"bis mittags?": "vormittag",
        },
        rest_of_week=("(?:den )?rest der woche", "(?:die )?restliche woche"),
        week_after=("in einer woche",),
        periods=(
            ("month", r"(?:(?:den|im|der) )?(?:ganze[nr]?|gesamte[nr]?) {month}"),
            (
                "first_week",
                r"(?:(?:die|in der) )?erste[nr]? (?:woche (?:im|vom|des) {month}s?|{month}woche)",
            ),
            (
                "last_week",
                r"(?:(?:die|in der) )?letzte[nr]? (?:woche (?:im|vom|des) {month}s?|{month}woche)",
            ),
            (
                "first_weeks",
                r"(?:(?:die|in den) )?ersten? (?:{number}|beiden?)"
                r" (?:wochen (?:im|vom|des) {month}s?|{month}wochen)",
            ),
            (
                "last_weeks",
                r"(?:(?:die|in den) )?letzten? (?:{number}|beiden?)"
                r" (?:wochen (?:im|vom|des) {month}s?|{month}wochen)",
            ),
            (
                "first_half",
                r"(?:(?:die|in der) )?erste[nr]? (?:hälfte (?:im|vom|des) {month}s?|{month}hälfte)",
            ),
            (
                "second_half",
                r"(?:(?:die|in der) )?zweite[nr]?"
                r" (?:hälfte (?:im|vom|des) {month}s?|{month}hälfte)",
            ),
        ),
        next_year=("(?:des )?nächsten jahres", "(?:im )?nächste[ns] jahr"),
        asked_periods=(
            ("month", r"(?:(?:im|den|für|irgendwann im) )?{month}"),
            ("this_month", r"(?:in )?diese[nm] monat"),
            ("month_end", r"(?:(?:am|zum|bis|bis zum) )?ende(?: des)? {month}s?"),
            ("year_end", r"(?:(?:am|zum|bis|bis zum) )?(?:ende (?:des|dieses) jahres|jahresende)"),
            ("next_month", r"(?:im )?nächsten monat"),
            ("christmas", r"(?:über|an|um) weihnachten"),
        ),
        lookalikes=frozenset(
            ("nächte", "nächten", "sorgen", "borgen", "gesten", "dienen", "diener", "märzen")
            + ("freien", "tragen", "letter")
        ),
        week_after_next=("(?:die )?übernächste woche", "in der übernächsten woche"),
        errands=(
            "(?:(?:ich )?hab(?:e)? )?(?:(?:ein|mein)e?n? |nen )?(?:(?:\\w*arzt|\\w*ärztin)"
            "(?:termin|besuch)?"
            "|arbeitsamt|termin(?: (?:beim|bei der|bei|im) \\w+)?|umzug|hochzeit|handwerker"
            "(?:termin)?"
            "|behörden(?:gang|termin)|\\w*prüfung)",
            "(?:(?:mein|unser)e? )?(?:kind|kleiner?|sohn|tochter|baby)(?: (?:ist|hat))?"
            " (?:krank|fieber)",
        ),
        past=frozenset(("war", "waren", "gewesen", "hatte")),
        ahead=(
            r"(?:bin|komme?)\b.*\bnicht",
            r"kann\b.*\bnicht",
            "werde",
            "brauche",
            "bräuchte",
            "möchte",
            "(?:kann|könnte|darf) ich",
        ),
        holiday_names={
            **dict.fromkeys(("heiligabend", "heilig abend", "heiligen abend"), "24 december"),
            **dict.fromkeys(("weihnachten", "weihnachtstag"), "25 december"),
            **dict.fromkeys(("erster weihnachtstag", "1. weihnachtstag"), "25 december"),
            **dict.fromkeys(("zweiter weihnachtstag", "2. weihnachtstag"), "26 december"),
            **dict.fromkeys(("silvester", "sylvester"), "31 december"),
            **dict.fromkeys(("neujahr", "neujahrstag"), "1 january"),
            **dict.fromkeys(("heilige drei könige", "dreikönigstag"), "6 january"),
            **dict.fromkeys(("tag der arbeit", "maifeiertag"), "1 may"),
            "tag der deutschen einheit": "3 october",
            "reformationstag": "31 october",
            "allerheiligen": "1 november",
            "mariä himmelfahrt": "15 august",
            "karfreitag": "good friday",
            "ostermontag": "easter monday",
            **dict.fromkeys(("christi himmelfahrt", "himmelfahrt", "vatertag"), "ascension day"),
            "pfingstmontag": "pentecost monday",
            "fronleichnam": "corpus christi",
        },
        # "am Freitag" is on Friday, "Freitag am Vormittag" in its morning.
        prepositions=frozenset(("am",)),
    )
