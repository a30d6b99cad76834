"""Whether typed text asks something: a question never requests leave. Pure.

In all languages for everyone, because no asking form means something else in another language.
"""

from __future__ import annotations

import re
from typing import Final

from bot.typed.typed_types import plain

_QUESTION_MARKS: Final = frozenset("?？¿؟‽⁇⁈⁉")
# Questions are recognised by their first words.
_MAX_LENGTH: Final = 200
_BEFORE: Final = (
    r"(?:(?:hi|hello|hey|hallo|moin|servus|good (?:morning|afternoon)|guten (?:morgen|tag)|please"
    r"|pls|bitte|sorry|entschuldigung|hiatus|team|there|all|so|and|but|und|aber|ok|okay|well|just"
    r"|mal|quick question|kurze frage|question|frage)[\s,.:!-]+)*"
)
_SUBJECTS: Final = (
    r"(?:i|we|you|he|she|it|they|there|that|this|any(?:one|body)|some(?:one|body)|everyone|people"
    r"|my|our|ich|wir|du|ihr|er|sie|es|man|das|jemand|irgendwer|mein(?:e|en)?)\b"
)
_ASKING_ALWAYS: Final = (
    *(r"(?:who|whom|whose|when|where|why|how|which|what)(?:'s)?", "(?:who|what|when|where)s"),
    "is|are|does|did|has|isn't|aren't|ain't|doesn't|didn't|hasn't|haven't",
    "(?:do you know|let me know|tell me) (?:if|when|who)",
    "wer|wen|wem|wann|wo|warum|wieso|weshalb|wie|welche[rsmn]?",
    "was (?:ist|sind|war|habe?|kann|gibt|passiert)",
    "ist|sind|seid|bist|hast|hat|habt|gibt|fehlt|fehlen|kommt",
)
_REQUESTING_ALWAYS: Final = (
    r"(?:is it |is there |would it be )?(?:any (?:chance|way)|(?:ok|okay|alright|possible|fine)"
    r"(?: for me)? (?:if|to))",
    "(?:i(?:'m| am| was|'d)? )?wonder(?:ing)?|(?:do you |would you )?mind if i|(?:what|how) about",
    "(?:ist es |wäre es |geht es )?(?:in ordnung|ok|okay|möglich),? (?:wenn|dass|zu)|geht|ginge",
    "ist es möglich|wäre es möglich|ich (?:frage mich|wollte fragen)",
)
# "will be off" and "was sick" are no questions.
_ASKING_BEFORE_SUBJECTS: Final = (
    "am|was|were|do|have|had|might|must|shall|should|will",
    "don't|can't|couldn't|won't|wouldn't|wasn't|weren't|shouldn't",
    "bin|war|waren|habe?|haben|hatte|soll|sollte|muss|müsste|werde|wird|brauche|arbeite|möchte",
)
_REQUESTING_BEFORE_SUBJECTS: Final = (
    "can|could|may|would",
    "hätte|kann|können|könnte|könnten|darf|dürfen|dürfte|würde|wäre|kannst|könntest",
)


def _form(always: tuple[str, ...], before_subjects: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(
        rf"{_BEFORE}(?:(?:{'|'.join(always)})\b|(?:{'|'.join(before_subjects)}) {_SUBJECTS})"
    )


_ASKING: Final = _form(_ASKING_ALWAYS, _ASKING_BEFORE_SUBJECTS)
_REQUESTING: Final = _form(_REQUESTING_ALWAYS, _REQUESTING_BEFORE_SUBJECTS)


def is_question(typed: str) -> bool:
    """Whether it asks something, with a question mark or by its first words."""
    if not _QUESTION_MARKS.isdisjoint(typed):
        return True
    return any(form.match(plain(typed[:_MAX_LENGTH])) for form in (_ASKING, _REQUESTING))


def is_request(typed: str) -> bool:
    """Whether a question may ask for leave: "can I take Friday off?", "Friday off?"."""
    start = plain(typed[:_MAX_LENGTH])
    return _REQUESTING.match(start) is not None or _ASKING.match(start) is None
