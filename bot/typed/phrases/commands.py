"""Phrases that ask for something else than leave: ``who's out tomorrow?`` is ``out``. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from bot.typed.typed_types import plain

CommandName = Literal["help", "balance", "out", "mine", "cancel"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """``rest`` is what follows, such as the days of ``out``."""

    name: CommandName
    rest: str = ""


_MAX_LENGTH: Final = 200
_PUNCTUATION: Final = " ?!.,"
_COURTESIES: Final = re.compile(
    r"(?<!\S)(?:please|pls|plz|thanks|thank you|hi|hello|hey|bitte|danke|hallo|mal)(?=$|[\s,])[,]?"
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
# What follows "out" in leave of one's own: "out sick today", "out tomorrow, back thursday".
_OWN_LEAVE: Final = (
    r"(?:of|sick|ill|for|on (?:leave|holiday|vacation|pto))\b|.*\b(?:back|wieder|zurück)\b"
)
_WEG: Final = r"(?:weg|abwesend|nicht (?:da|im büro)|frei|off|(?:im |auf |in )?urlaub)"
_JEMAND: Final = r"(?:jemand|irgendjemand|irgendwer|wer|leute|welche|kollegen)(?: anderes)?"

# In all languages for everyone, because no phrase has different meanings in two languages.
_PHRASES: Final[tuple[tuple[CommandName, str], ...]] = (
    (
        "help",
        r"help(?: me)?|hilfe|commands|what can (?:i|you) (?:do|type)|how does (?:this|it) work",
    ),
    ("balance", rf"{_SHOW}{_MY}(?:{_LEAVE} )?(?:balance|allowance|entitlement)"),
    ("balance", rf"{_SHOW}how (?:many|much) .*\b(?:left|remaining|remain|have|got)\b.*"),
    ("balance", rf"(?:days|{_LEAVE}) (?:left|remaining)"),
    ("balance", rf"{_SHOW}{_MY}(?:urlaubskonto|konto|kontostand|resturlaub)"),
    ("balance", r"wie ?viele? .*\b(?:noch|übrig|habe ich|hab ich)\b.*"),
    (
        "balance",
        r"(?:do i|have i) (?:still )?(?:have|got) (?:any|enough) .*\b(?:left|remaining)\b.*",
    ),
    ("balance", r"(?:habe?|hätte) ich noch (?:genug )?(?:urlaub|tage|urlaubstage|resturlaub)\b.*"),
    ("out", rf"{_WHO} {_OFF}(?P<rest> .*)?"),
    ("out", r"who(?:'s| has| is taking|'s taking)(?P<rest> .+) off"),
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
    ("mine", rf"(?:am|was|will) i (?:be )?(?:.* )?{_OFF}(?: .*)?"),
    ("mine", rf"(?:do|have) i (?:have |got )+(?:.* )?(?:off|booked|{_LEAVE})(?: .*)?"),
    ("mine", rf"when (?:am i|do i have|will i be|have i got) (?:.* )?(?:{_OFF}|{_LEAVE})(?: .*)?"),
    ("mine", rf"(?:when|is|are|was|were) (?:is |are )?my (?:.* )?(?:{_LEAVE}|requests?)(?: .*)?"),
    ("mine", r"(?:what|anything)(?: have i| do i have)? (?:got )?booked(?: .*)?"),
    ("mine", rf"(?:wann )?(?:bin|war) ich (?:.* )?{_WEG}(?: .*)?"),
    ("mine", r"(?:wann )?(?:hab|habe|hatte) ich (?:.* )?(?:frei|urlaub|gebucht)(?: .*)?"),
    ("mine", r"(?:wann )?(?:ist|sind) mein(?:e|en)? (?:.* )?(?:urlaube?|anträge?|antrag)(?: .*)?"),
    ("cancel", r"(?:cancel|storniere|stornieren)(?: .*)?"),
)
_COMPILED: Final = tuple((name, re.compile(pattern)) for name, pattern in _PHRASES)


def command_of(typed: str) -> Command | None:
    """What the phrase asks for; None for everything else, and for long text."""
    if typed.strip() == "?":
        return Command(name="help")
    if len(typed) > _MAX_LENGTH:
        return None
    text = _COURTESIES.sub(" ", _without_end(plain(typed)))
    text = _without_end(" ".join(text.split()))
    for name, pattern in _COMPILED:
        if match := pattern.fullmatch(text):
            parts = match.groupdict()
            rest = f"{parts.get('before') or ''} {parts.get('rest') or ''}"
            return Command(name=name, rest=" ".join(rest.split()))
    return None


def _without_end(text: str) -> str:
    """The text without punctuation at its end. In German, "am 30." ends with the day."""
    text = text.rstrip(" ?!,")
    return text if re.search(r"\d\.$", text) else text.rstrip(_PUNCTUATION)
