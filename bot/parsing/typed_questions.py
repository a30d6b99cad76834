"""Questions about people, days and one's own leave, from typed text. Pure.

Understood in all languages by everyone: no phrase means anything else in another language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from bot.parsing import english, german, typed_phrases
from bot.parsing.languages import PHRASES, with_and_without_accents
from bot.parsing.typed_phrases import MAX_LENGTH, cleaned
from bot.parsing.vocabulary import QuestionName

# Words at the place of a name that name no one.
_NO_NAME: Final = (
    r"(?:i|we|you|he|she|it|they|there|that|this|these|those|the|a|an|my|our|your|his|her|their"
    r"|any(?:one|body)?|some(?:one|body)?|every(?:one|body)?|no|not|who|what|when|where|how|why"
    r"|all|people|next|ich|wir|du|ihr|er|sie|es|man|das|der|die|den|dem|ein|eine|einen|mein\w*"
    r"|unser\w*|dein\w*|jemand|irgendjemand|irgendwer|alle|wer|was|wann|wo|wie|warum|noch|schon"
    r"|nächste[rns]?|am|im|in|on|at"
    r"|alguien|nadie|tod[oa]s?|quién|quien|qué|que|yo|tú|él|ella|nosotros|ellos|ellas|el|la|los|las"
    r"|un|una|mis?|hoy|mañana|ayer|fuera|de|en|libre|ausente|enferm[oa])\b"
)
_WORD: Final = rf"(?!{_NO_NAME})[^\W\d_][\w'.-]*"
_WHO: Final = rf"(?P<who><@[uw][a-z0-9]+(?:\|[^>]*)?>|{_WORD}(?: {_WORD}){{0,2}}?)"
_PLACES: Final = {
    "{who}": _WHO,
    "{when}": "(?P<when>(?:,? .*)?)",
    "{before}": "(?P<before>(?:.*? )?)",
}
_ASKING: Final = re.compile(
    r"(?:(?:do you know|can you tell me|could you tell me|tell me|please tell me|let me know"
    r"|i wonder|weißt du|weisst du|kannst du mir sagen|sag mir)[, ]+(?:(?:if|whether|ob) )?)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """``who`` is the name as typed, or a mention; ``when`` the days, "" if none were."""

    name: QuestionName
    who: str = ""
    when: str = ""


def _compiled(pattern: str) -> re.Pattern[str]:
    for place, group in _PLACES.items():
        pattern = pattern.replace(place, group)
    return re.compile(pattern)


_COMPILED: Final = tuple(
    (name, _compiled(pattern))
    for name, pattern in (
        *english.QUESTIONS,
        *german.QUESTIONS,
        *(
            (name, spelt)
            for language, phrases in PHRASES.items()
            for name, pattern in phrases.questions
            for spelt in with_and_without_accents(pattern, language)
        ),
    )
)


def question_of(typed: str) -> Question | None:
    """What the text asks; None for everything else, and for long text.

    A pattern that begins with "¿" is only a question with a question mark, at either end: "estoy
    libre el viernes" is leave.
    """
    if len(typed) > MAX_LENGTH:
        return None
    text = cleaned(typed).lstrip("¿ ")
    variants = [text, _ASKING.sub("", text, count=1)]
    if typed_phrases.has_question_mark(typed):
        variants.append(f"¿{text}")
    for asked in dict.fromkeys(variants):
        for name, pattern in _COMPILED:
            if match := pattern.fullmatch(asked):
                groups = match.groupdict()
                when = f"{groups.get('before') or ''} {groups.get('when') or ''}"
                return Question(
                    name=name,
                    who=(groups.get("who") or "").removesuffix("'s"),
                    when=" ".join(when.split()),
                )
    return None
