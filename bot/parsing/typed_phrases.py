"""Phrases of typed text: commands, questions, politeness, and names of public holidays. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Final

from bot.parsing import typed_periods
from bot.parsing.languages import PHRASES, further, with_and_without_accents, words_of
from bot.parsing.typed_names import plain
from bot.parsing.typed_terms import any_of
from bot.parsing.vocabulary import CommandName


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """``rest`` is what follows, such as the days of ``out`` or the day of ``balance``."""

    name: CommandName
    rest: str = ""


# The rest of longer text is not understood. Some letters become several when they are folded.
MAX_LENGTH: Final = 200
_PUNCTUATION: Final = " ?!.,"
_COURTESIES: Final = re.compile(
    r"(?<!\S)(?:please|pls|plz|thanks|thank you|hi|hello|hey|bitte|danke|hallo|mal|eigentlich"
    r"|denn|überhaupt"
    rf"|{any_of(further('greetings'))})(?=$|[\s,])[,]?"
)
_GREETING: Final = re.compile(
    r"\W*(?:hi|hiya|hello|hey|hallo|moin|servus|good (?:morning|afternoon|evening|day)"
    r"|guten (?:morgen|tag|abend)|bonjour|bonsoir|salut|coucou|hola|oye"
    r"|buen(?:as|os|a)?(?: (?:días|dias|día|dia|tardes|noches))?)(?!\w)",
    re.IGNORECASE,
)
_SHOW: Final = r"(?:(?:show|tell|list|check|zeig|zeige)(?: me| mir)? |(?:what's|what is) )?"
_MY: Final = r"(?:(?:my|the|mein|meine|meinen|das|den) )?"
_LEAVE: Final = r"(?:leave|time off|pto|vacations?|holidays?)"
_OFF: Final = (
    r"(?:out|off|away|absent|ooo|not (?:in|here|around|working)"
    r"|(?:on|taking) (?:leave|holiday|vacation|pto))(?: of (?:the )?office)?"
)
_WHO: Final = (
    r"(?:(?:who(?: else)?|who all)(?:'s|s| is| are| will be| isn't| is going to be)?"
    r"|(?:is |are |will )?(?:any(?:one|body)|some(?:one|body)|everyone|(?:any )?people)(?: else)?"
    r"(?: be| going to be)?)"
)
_ELSEWHERE: Final = (
    r"(?:wfh|in (?:the )?home[ -]?office|working (?:from|at) home|working (?:remotely|elsewhere))"
)
_ZUHAUSE: Final = r"(?:(?:im )?home[ -]?office|von (?:zu ?hause|daheim)(?: aus)?)"
# What follows "out" in leave of one's own: "out sick today", "out tomorrow, back thursday".
_OWN_LEAVE: Final = (
    r"(?:of|sick|ill|for|on (?:leave|holiday|vacation|pto))\b"
    r"|(?:from|vom|von) .*\b(?:to|until|till|bis)\b|.*\b(?:back|wieder|zurück)\b"
)
_WEG: Final = r"(?:weg|abwesend|nicht (?:da|im büro)|frei|off|(?:im |auf |in )?urlaub)"
_JEMAND: Final = r"(?:jemand|irgendjemand|irgendwer|wer|leute|welche|kollegen)(?: anderes)?"

# What changes nothing behind "how many days do I have".
_STILL: Final = (
    r"(?: (?:now|still|in total|in all|of (?:my )?(?:leave|holiday|vacation|pto|allowance)"
    r"|(?:leave|holiday|vacation|annual leave) ?(?:left|days)?|to (?:take|use|book|spend)|for me"
    r"|available|übrig|offen|noch|urlaub|urlaubstage|tage|resturlaub|insgesamt|frei|zu nehmen"
    r"|zur verfügung))*"
)
_IN_YEAR: Final = r"(?P<rest> (?:(?:in|for|für) )?20\d\d)?"

# In all languages for everyone, because no phrase has different meanings in two languages.
_PHRASES: Final[tuple[tuple[CommandName, str], ...]] = (
    (
        "help",
        r"help(?: me)?|hilfe|commands|what can (?:i|you) (?:do|type)|how does (?:this|it) work",
    ),
    ("balance", rf"{_SHOW}{_MY}(?:{_LEAVE} )?(?:balance|allowance|entitlement)(?P<rest> .*)?"),
    (
        "balance",
        rf"{_SHOW}how (?:many|much) .*\b(?:left|remaining|remain|have|got)\b{_STILL}(?P<rest> .*)?",
    ),
    (
        "balance",
        rf"{_SHOW}how (?:many|much) (?=.*\b(?:i|i've|my|me)\b).*"
        r"\b(?:approved|taken|used|booked|pending|spent)\b.*",
    ),
    (
        "balance",
        r"wie ?viele? (?=.*\b(?:ich|mein\w*|mir|mich)\b).*\b(?:genehmigt|genommen|verbraucht"
        r"|gebucht)\b.*",
    ),
    ("balance", rf"(?:days|{_LEAVE}) (?:left|remaining){_IN_YEAR}"),
    ("balance", rf"{_SHOW}{_MY}(?:urlaubskonto|konto|kontostand)(?P<rest> .*)?"),
    # "Resturlaub am Freitag" is leave.
    ("balance", rf"{_SHOW}{_MY}resturlaub{_IN_YEAR}"),
    ("balance", rf"{_SHOW}{_MY}resturlaub(?P<rest> (?:zum|per|ende|bis|nach) .*)"),
    (
        "balance",
        rf"wie ?viele? .*\b(?:noch|übrig|habe ich|hab ich)\b{_STILL}(?P<rest> .*)?",
    ),
    (
        "balance",
        rf"was (?:habe?|hätte) ich (?:noch|übrig)\b(?=.*\b(?:urlaub|tage|resturlaub)\b){_STILL}"
        r"(?: an (?:\w*urlaub\w*|tagen))?(?P<rest> .*)?",
    ),
    ("balance", rf"what (?:have i|do i have|i have)(?: got)? left{_STILL}(?P<rest> .*)?"),
    ("balance", rf"wie ?viele?(?: \S+)? bleib(?:t|en) mir{_STILL}(?P<rest> .*)?"),
    # The balance leads to its ledger, with what was carried over.
    ("balance", r"how (?:many|much) .*\b(?:did|have|do) i .*carr(?:y|ied) over\b.*"),
    (
        "balance",
        r"wie ?viele? .*\b(?:resturlaub|übertragen|mitgenommen)\b.*\b(?:letzte[mn]|vorige[mn])"
        r" jahr\b.*",
    ),
    (
        "balance",
        r"(?:do i|have i) (?:still )?(?:have|got) (?:any|enough) .*\b(?:left|remaining)\b.*",
    ),
    ("balance", r"(?:habe?|hätte) ich noch (?:genug )?(?:urlaub|tage|urlaubstage|resturlaub)\b.*"),
    (
        "out",
        rf"{_WHO}(?: (?:in|on|from|of) (?:my|our|the) team)?(?:'s| is| are| be)?"
        rf" (?:{_OFF}|{_ELSEWHERE})(?P<rest> .*)?",
    ),
    (
        "out",
        rf"wer (?:alles )?(?:ist|sind|arbeitet|arbeiten|macht|hat)(?P<before> .*?)?? {_ZUHAUSE}"
        r"(?P<rest> .*)?",
    ),
    ("out", r"who(?:'s| has| is taking|'s taking)(?P<rest> .+) off"),
    # Who is in is told by who is off.
    (
        "out",
        r"who(?:'s| is| are| will be|'ll be) (?:in|around|here|there|working|at work)"
        r"(?: the office)?(?P<rest> .*)?",
    ),
    (
        "out",
        r"wer (?:alles )?(?:ist|sind|kommt|arbeitet)(?P<before> .*?)??(?: noch)?"
        r" (?:da|hier|im büro|im haus)"
        r"(?P<rest> .*)?",
    ),
    ("out", r"who works(?P<rest> .*)?"),
    ("out", r"wer (?:arbeitet|kommt)(?P<rest> .*)?"),
    ("out", r"who (?:isn't|is not|won't be) (?:in|here|around|working)(?P<rest> .*)?"),
    (
        "out",
        rf"wer (?:alles )?(?:ist|sind|fehlt|hat)(?: alles)?(?P<rest> .*?)??(?: alles)?(?: {_WEG})?",
    ),
    ("out", rf"(?:ist|sind|hat|haben)(?P<before> .*?)?? {_JEMAND}(?P<rest> .*?)?? {_WEG}"),
    ("out", rf"(?:fehlt|fehlen)(?P<before> .*?)?? {_JEMAND}(?P<rest> .*)?"),
    ("out", rf"(?:out|abwesend|weg)(?! (?:{_OWN_LEAVE}))(?P<rest> .*)?"),
    ("mine", rf"{_SHOW}my (?:{_LEAVE}|requests?|leaves)"),
    ("mine", rf"{_SHOW}(?:meine|mein|meinen) (?:urlaube?|anträge|abwesenheiten)"),
    ("mine", r"mine|meine"),
    (
        "mine",
        r"(?:has|have|did|was|were|is|are|when will) (?:.* )?(?:approved?|decided?|declined?"
        r"|confirmed?)(?: on)? my (?:.* )?(?:leave|requests?|holidays?|vacation|time off)(?: .*)?",
    ),
    (
        "mine",
        r"(?:hat|habt|haben|wurde|wurden|ist|wann wird) (?:.* )?mein(?:e|en)? (?:antrag|anträge"
        r"|urlaub)"
        r"(?: .*)? (?:genehmigt|entschieden|abgelehnt|bewilligt|bestätigt)",
    ),
    ("mine", rf"(?:am|was|will) i (?:be )?(?:.* )?{_OFF}(?: .*)?"),
    ("mine", rf"(?:do|have) i (?:have |got )+(?:.* )?(?:off|booked|{_LEAVE})(?: .*)?"),
    (
        "mine",
        rf"(?:(?:can you )?tell me |do you know )?when (?:am i|i'm|do i have|will i be"
        rf"|have i got) (?:.* )?(?:{_OFF}|{_LEAVE})(?: .*)?",
    ),
    (
        "mine",
        rf"(?:when|is|are|was|were|has|have|did|will) (?:is |are )?my (?:.* )?(?:{_LEAVE}"
        rf"|requests?)(?: .*)?",
    ),
    ("mine", r"(?:what|anything)(?: have i| do i have)? (?:got )?booked(?: .*)?"),
    ("mine", rf"(?:wann )?(?:bin|war) ich (?:.* )?{_WEG}(?: .*)?"),
    ("mine", r"(?:wann )?(?:hab|habe|hatte) ich (?:.* )?(?:frei|urlaub|gebucht)(?: .*)?"),
    ("mine", r"(?:wann )?(?:ist|sind) mein(?:e|en)? (?:.* )?(?:urlaube?|anträge?|antrag)(?: .*)?"),
    ("cancel", r"(?:cancel|storniere|stornieren)(?: .*)?"),
)
_FURTHER: Final = tuple(
    (name, spelt)
    for language, phrases in PHRASES.items()
    for name, pattern in phrases.commands
    for spelt in with_and_without_accents(pattern, language)
)
_COMPILED: Final = tuple((name, re.compile(pattern)) for name, pattern in (*_PHRASES, *_FURTHER))


# Behind a request, because the answer to it says so anyway.
_WHATS_LEFT: Final = re.compile(
    r"(?<=\S)(?:[,.;!?]+|\s(?:and|und|et|y)\b)\s*(?:(?:and|und|et|y|also|auch|aussi|también)\s)*"
    r"(?:(?:i'd like to |i want to )?(?:know|see|tell me|(?:sag|zeig) mir|dites-moi|dime) )?"
    r"¿?(?:how (?:many|much)|what(?:'s| is| will be| would be)|wie ?viele?|was|combien"
    r"|cuánt[oa]s?)\s"
    r"(?:[^.?!]*\s)?(?:left|remain(?:ing|s)?|have|balance|übrig|noch|restants?|reste\S*|quedan?"
    r"|quedarán?)\b[^.?!]*[\s?.!]*\Z",
    re.IGNORECASE,
)


def without_whats_left(typed: str) -> str:
    """The text without the question at its end how many days are left after the request."""
    return _WHATS_LEFT.sub("", typed[:MAX_LENGTH]) + typed[MAX_LENGTH:]


def command_of(typed: str) -> Command | None:
    """What the phrase asks for; None for everything else, and for long text."""
    if typed.strip() == "?":
        return Command(name="help")
    if len(typed) > MAX_LENGTH:
        return None
    text = cleaned(typed)
    for name, pattern in _COMPILED:
        if match := pattern.fullmatch(text):
            parts = match.groupdict()
            rest = f"{parts.get('before') or ''} {parts.get('rest') or ''}"
            if name == "balance" and _CONDITION.search(text):
                name, rest = "what_if", ""
            return Command(name=name, rest=" ".join(rest.split()))
    return None


# "How many days would be left if I took friday?" is not about today.
_CONDITION: Final = re.compile(
    r"\b(?:(?:if|when) (?:i|we) |(?:wenn|falls) (?:ich|wir) |(?:et )?si (?:je |j'|on )"
    r"|si (?!possible|es posible|puede|se puede)\w+)"
)


def cleaned(typed: str) -> str:
    """The plain text without politeness and without punctuation at its ends."""
    text = _COURTESIES.sub(" ", _without_end(plain(typed)))
    return _without_end(" ".join(text.split())).lstrip(_PUNCTUATION)


def _without_end(text: str) -> str:
    """The text without punctuation at its end. In German, "am 30." ends with the day."""
    text = text.rstrip(" ?!,")
    return text if re.search(r"\d\.$", text) else text.rstrip(_PUNCTUATION)


_QUESTION_MARKS: Final = frozenset("?？¿؟‽⁇⁈⁉")
_BEFORE: Final = (
    r"(?:(?:hi|hello|hey|hallo|moin|servus|good (?:morning|afternoon)|guten (?:morgen|tag)|please"
    r"|pls|bitte|sorry|entschuldigung|hiatus|team|there|all|so|and|but|und|aber|ok|okay|well|just"
    r"|mal|quick question|kurze frage|question|frage"
    rf"|{any_of(further('greetings'))})[\s,.:!-]+)*"
)
_SUBJECTS: Final = (
    r"(?:i|we|you|he|she|it|they|there|that|this|any(?:one|body)|some(?:one|body)|everyone|people"
    r"|my|our|ich|wir|du|ihr|er|sie|es|man|das|jemand|irgendwer|mein(?:e|en)?"
    rf"|{any_of(further('subjects'))})\b"
)
_ASKING_ALWAYS: Final = (
    *(r"(?:who|whom|whose|when|where|why|how|which|what)(?:'s)?", "(?:who|what|when|where)s"),
    "is|are|does|did|has|isn't|aren't|ain't|doesn't|didn't|hasn't|haven't",
    "(?:do you know|let me know|tell me) (?:if|when|who)",
    "wer|wen|wem|(?:ab |bis |seit )?wann|wo|warum|wieso|weshalb|wie|welche[rsmn]?",
    "was (?:ist|sind|war|habe?|kann|gibt|passiert)",
    "ist|sind|seid|bist|hast|hat|habt|gibt|fehlt|fehlen|kommt",
    *further("asking"),
)
_REQUESTING_ALWAYS: Final = (
    r"(?:is it |is there |would it be )?(?:any (?:chance|way)|(?:ok|okay|alright|possible|fine)"
    r"(?: for me)? (?:if|to))",
    "(?:i(?:'m| am| was|'d)? )?wonder(?:ing)?|(?:do you |would you )?mind if i|(?:what|how) about",
    "(?:ist es |wäre es |geht es )?(?:in ordnung|ok|okay|möglich),? (?:wenn|dass|zu)|geht|ginge",
    "ist es möglich|wäre es möglich|ich (?:frage mich|wollte fragen)",
    *further("requesting"),
)
# "will be off" and "was sick" are no questions.
_ASKING_BEFORE_SUBJECTS: Final = (
    "am|was|were|do|have|had|might|must|shall|should|will",
    "don't|can't|couldn't|won't|wouldn't|wasn't|weren't|shouldn't",
    "bin|war|waren|habe?|haben|hatte|soll|sollte|muss|müsste|werde|wird|brauche|arbeite|möchte",
    *further("asking_verbs"),
)
_REQUESTING_BEFORE_SUBJECTS: Final = (
    "can|could|may|would",
    "hätte|kann|können|könnte|könnten|darf|dürfen|dürfte|würde|wäre|kannst|könntest",
    *further("requesting_verbs"),
)


def _form(always: tuple[str, ...], before_subjects: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        rf"{_BEFORE}(?:(?:{'|'.join(always)})\b|(?:{'|'.join(before_subjects)}) {_SUBJECTS})"
    )


_ASKING: Final = _form(_ASKING_ALWAYS, _ASKING_BEFORE_SUBJECTS)
_REQUESTING: Final = _form(_REQUESTING_ALWAYS, _REQUESTING_BEFORE_SUBJECTS)


def has_question_mark(typed: str) -> bool:
    return not _QUESTION_MARKS.isdisjoint(typed)


def is_question(typed: str) -> bool:
    """Whether it asks something, with a question mark or by its first words."""
    if has_question_mark(typed):
        return True
    return any(form.match(plain(typed[:MAX_LENGTH])) for form in (_ASKING, _REQUESTING))


def is_polite_request(typed: str) -> bool:
    """Whether a question asks for leave by its first words: "can I take Friday off?"."""
    return _REQUESTING.match(plain(typed[:MAX_LENGTH])) is not None


def is_greeting(typed: str) -> bool:
    """Whether text begins with "hello" and the like."""
    return _GREETING.match(typed[:MAX_LENGTH]) is not None


def is_request(typed: str) -> bool:
    """Whether a question may ask for leave: "can I take Friday off?", "Friday off?"."""
    return is_polite_request(typed) or _ASKING.match(plain(typed[:MAX_LENGTH])) is None


# Emoji, skin tones and what joins them.
_SYMBOLS = frozenset(("So", "Sk", "Cf", "Mn", "Me"))
# Slack's names of emoji, and smileys; Slack escapes "<".
_SMILEYS = re.compile(
    r"(?<!\S)(?::[\w+'-]+:|[:;=8x][-'^]?[()\[\]dpo3|/\\*]|\^\^|xd|(?:<|&lt;)3)++(?=$|[\s,.!?)])"
)
# What may stand before and after a phrase.
_START, _END = r"(?<![^\s,;-])", r"(?=$|[\s,;.-])"


def without_symbols(text: str) -> str:
    """The plain text without emoji, smileys and colons, as in ``annual leave: 3 aug :pray:``."""
    text = re.sub(r":(?=\s|$)", " ", _SMILEYS.sub(" ", text))
    kept = (" " if unicodedata.category(letter) in _SYMBOLS else letter for letter in text)
    return " ".join("".join(kept).split())


def reduced(
    text: str,
    language: str,
    *,
    today: date,
    weekdays: frozenset[int],
    holidays: Mapping[str, date],
) -> str:
    """The plain text without politeness, with dates in place of public holidays.

    ``holidays`` are the next ones of the person, by name.
    """
    words = words_of(language)
    text = re.sub(r"[!?]+(?=$|[\s,])", " ", text).rstrip(" ")
    # In German, "am 30." ends with the day; elsewhere a full stop ends the sentence.
    if not ("." in words.ordinal_endings and re.search(r"\d\.$", text)):
        text = text.rstrip(" .")
    # "All of january" before "all of" is removed.
    text = typed_periods.with_dates(text, language, today, weekdays)
    text = _courtesies(language).sub(" ", f" {text} ")
    for pattern, replacement in words.rewrites.items():
        text = re.sub(f"{_START}(?:{pattern}){_END}", replacement, text)
    text = " ".join(re.sub(r"(?<=\w)( ?)(?:[+&]|&amp;)\1(?=\w)", " & ", text).split())
    if weekdays and today.weekday() <= max(weekdays):
        last = today + timedelta(days=max(weekdays) - today.weekday())
        rest = rf"{_START}(?:{any_of(words.rest_of_week)}){_END}"
        text = re.sub(rest, f"{today} - {last}", text)
    after_next = rf"{_START}(?:{any_of(words.week_after_next)}){_END}"
    text = re.sub(after_next, f"week of {today + timedelta(weeks=2)}", text)
    return _with_dates(
        text, {**_names(holidays, words.months), **_aliases(words.holiday_names, holidays)}
    )


@lru_cache
def _courtesies(language: str) -> re.Pattern[str]:
    return re.compile(rf"{_START}(?:{any_of(words_of(language).courtesies)}){_END}")


def _names(holidays: Mapping[str, date], months: Mapping[str, int]) -> dict[str, str]:
    """The ISO dates of public holidays by name, also without "day" at its end."""
    dates = {name: day.isoformat() for name, day in holidays.items()}
    short = {name.removesuffix(" day"): day for name, day in dates.items()}
    # "May Day" is not "may".
    return {name: day for name, day in short.items() if name not in months} | dates


def _aliases(names: Mapping[str, str], holidays: Mapping[str, date]) -> dict[str, str]:
    """What stands for each further name; none for holidays that the person does not have."""
    return {
        alias: holidays[meant].isoformat() if meant in holidays else meant
        for alias, meant in names.items()
        if meant in holidays or meant[0].isdigit()
    }


def _with_dates(text: str, days: Mapping[str, str]) -> str:
    if not days:
        return text
    names = "|".join(re.escape(name) for name in sorted(days, key=len, reverse=True))
    return re.sub(rf"{_START}({names}){_END}", lambda match: days[match.group()], text)
