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


_PUNCTUATION: Final = " ?!.,"
_COURTESIES: Final = re.compile(
    r"(?<!\S)(?:please|pls|plz|thanks|thank you|hi|hello|hey|bitte|danke|hallo|mal)(?=$|[\s,])[,]?"
)
_SHOW: Final = r"(?:(?:show|tell|list|check|zeig|zeige)(?: me| mir)? |(?:what's|what is) )?"
_MY: Final = r"(?:(?:my|the|mein|meine|meinen|das|den) )?"
_LEAVE: Final = r"(?:leave|time off|pto|vacations?|holidays?)"
_OFF: Final = r"(?:out|off|away|not in|on (?:leave|holiday|vacation|pto))(?: of (?:the )?office)?"
_WHO: Final = (
    r"(?:who(?:'s|s| is| are| will be)?|(?:is |will )?(?:any(?:one|body)|everyone)(?: be)?)"
)
_WEG: Final = r"(?:weg|abwesend|nicht da|frei|(?:im |auf )?urlaub)"

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
    ("out", rf"{_WHO} {_OFF}(?P<rest> .*)?"),
    ("out", r"wer (?:ist|sind|fehlt|hat)(?P<rest> .*?)??" rf"(?: {_WEG})?"),
    ("out", r"(?:out|abwesend|weg)(?! of\b)(?P<rest> .*)?"),
    ("mine", rf"{_SHOW}my (?:{_LEAVE}|requests?|leaves)"),
    ("mine", rf"{_SHOW}(?:meine|mein|meinen) (?:urlaube?|anträge|abwesenheiten)"),
    ("mine", r"mine|meine"),
    ("cancel", r"(?:cancel|storniere|stornieren)(?: .*)?"),
)
_COMPILED: Final = tuple((name, re.compile(pattern)) for name, pattern in _PHRASES)


def command_of(typed: str) -> Command | None:
    """What the phrase asks for; None for everything else."""
    if typed.strip() == "?":
        return Command(name="help")
    text = _COURTESIES.sub(" ", plain(typed).rstrip(_PUNCTUATION))
    text = " ".join(text.rstrip(_PUNCTUATION).split())
    for name, pattern in _COMPILED:
        if match := pattern.fullmatch(text):
            return Command(name=name, rest=(match.groupdict().get("rest") or "").strip())
    return None
