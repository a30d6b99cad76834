"""Sentences about typed words that were not understood, and the button for those that were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext, gettext_noop
from bot.blocks import layout, words
from bot.parsing.typed_leave import ParsedLeave
from bot.parsing.typed_terms import Problem, ProblemKind
from bot.views import request_values
from bot.views.request_values import Filled
from storage.base.leave_values import HalfDay
from storage.base.values import User

_MAX_TYPED: Final = 40
_MAX_PROBLEMS: Final = 8
_NO_HOME_OFFICE: Final = gettext_noop(
    "There's no leave type for home office. An admin can add one in Hiatus's settings, under "
    "“Leave types”: one that doesn't count as away."
)
_PROBLEM_SENTENCES: Final[Mapping[ProblemKind, str]] = {
    "unknown": gettext_noop("Sorry, I didn't understand “{typed}”. Please choose the days below."),
    "which_day": gettext_noop("“{typed}” could mean more than one day. Please choose below."),
    "which_month": gettext_noop("Which month is “{typed}” in? Please choose the days below."),
    "which_year": gettext_noop("“{typed}” could be in more than one year. Please choose below."),
    "which_half": gettext_noop(
        "“{typed}” could mean the first or the last day. Please choose when your leave "
        "starts and ends."
    ),
    "which_part_of_day": gettext_noop(
        "“{typed}”: the morning or the afternoon? Please choose below."
    ),
    "half_of_which_day": gettext_noop("“{typed}” on which day? Please choose below."),
    "impossible_day": gettext_noop("There's no “{typed}”. Please choose the days below."),
    "several_days": gettext_noop(
        "“{typed}” is more than one period. Type something like “3-7 aug”, or choose below."
    ),
    "which_first_day": gettext_noop("“{typed}” starting on which day? Please choose below."),
    "which_last_day": gettext_noop("“{typed}” until when? Please choose below."),
    "which_length": gettext_noop(
        "“{typed}” could mean working days or calendar days. Please choose the days below."
    ),
    "which_type": gettext_noop("“{typed}” could mean {choices}. Please choose below."),
    "several_types": gettext_noop(
        "A request has one leave type, but you named {choices}. Please choose below."
    ),
    "no_home_office": _NO_HOME_OFFICE,
}


def asides(leave: ParsedLeave) -> list[Block]:
    """The typed words that were not understood or taken for others, and those in the note."""
    lines = [*sentences(leave.problems), *corrections(leave.corrected)]
    if leave.note is not None:
        note = layout.cut(leave.note, layout.MAX_NAME)
        lines.append(gettext("“{note}” is in the note.", note=note))
    return as_block(lines)


def corrections(corrected: Sequence[tuple[str, str]]) -> list[str]:
    """The words that were taken for others, in plain text."""
    if not corrected:
        return []
    typed, meant = (" … ".join(words) for words in zip(*corrected, strict=True))
    return [
        gettext(
            "I took “{typed}” for “{meant}”.",
            typed=layout.cut(typed, layout.MAX_NAME),
            meant=layout.cut(meant, layout.MAX_NAME),
        )
    ]


def as_block(lines: Sequence[str]) -> list[Block]:
    """A form's first block with these plain sentences, or none."""
    if not lines:
        return []
    block = layout.paragraph("\n".join(lines))
    return [{"block_id": ids.ASIDES, **block}]


def sentences(problems: Sequence[Problem]) -> list[str]:
    """What was not understood, in plain text."""
    return [_problem_sentence(problem) for problem in problems[:_MAX_PROBLEMS]]


def _problem_sentence(problem: Problem) -> str:
    typed = layout.cut(problem.typed, layout.MAX_NAME)
    choices = words.names([layout.cut(choice, layout.MAX_NAME) for choice in problem.choices])
    return gettext(_PROBLEM_SENTENCES[problem.kind], typed=typed, choices=choices)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """What was read of typed text, for a button: its form has these values, and no others.

    ``person`` is the person for whom the leave is recorded; None if it is the reader's own.
    """

    filled: Filled
    type_name: str | None = None
    person: User | None = None

    @property
    def line(self) -> str:
        """The values as a sentence."""
        return gettext("I read: {rest}.", rest=", ".join(self.parts))

    @property
    def parts(self) -> list[str]:
        """The person, type, days and note that were read."""
        filled = self.filled
        parts = [] if self.person is None else [layout.cut(self.person.name, layout.MAX_NAME)]
        if self.type_name is not None:
            parts.append(layout.cut(self.type_name, layout.MAX_NAME))
        if filled.start_date is not None and filled.end_date is not None:
            begins, ends = filled.begins_at_midday, filled.ends_at_midday
            halves: tuple[HalfDay | None, HalfDay | None]
            halves = ("pm" if begins else None, "am" if ends else None)
            parts.append(words.span(filled.start_date, filled.end_date, *halves))
        if filled.note is not None:
            parts.append(words.quoted(filled.note))
        return parts

    @property
    def button(self) -> Block:
        packed = request_values.packed(self.filled)
        if self.person is None:
            label, action_id = gettext("Request leave"), ids.OPEN_UNDERSTOOD
            return layout.button(label, action_id, packed, "primary")
        label, action_id = gettext("Record leave"), ids.RECORD_UNDERSTOOD
        return layout.button(label, action_id, f"{self.person.id}|{packed}", "primary")


def not_understood(command: str, typed: str, reading: Reading | None) -> Message:
    """One line about typed words, and a button for the form with the rest."""
    shown = gettext("Sorry, I didn't understand “{words}”.", words=layout.cut(typed, _MAX_TYPED))
    rest = examples(command) if reading is None else reading.line
    return _with_button(f"{shown} {rest}", reading)


def examples(command: str) -> str:
    return gettext("`{help}` shows examples.", help=_help(command))


def _help(command: str) -> str:
    """What shows help; in a conversation, without a command, the word is enough."""
    return f"{command} {gettext('help')}".strip()


def offer(reading: Reading) -> Message:
    """What was read of a question or a colleague's leave, and a button for the form with it."""
    if reading.person is None:
        asked = gettext("Do you want to request this leave?")
    else:
        asked = gettext("Do you want to record this leave?")
    return _with_button(f"{reading.line} {asked}", reading)


def to_complete(problems: Sequence[Problem], reading: Reading) -> Message:
    """What has to be chosen in the form before the leave can be sent, and the button for it."""
    lines = [reading.line] if reading.parts else [gettext("Which days?")]
    return _with_button("\n".join([*lines, *sentences(problems)]), reading)


def no_home_office() -> Message:
    return {"text": gettext(_NO_HOME_OFFICE)}


def no_answer(command: str, typed: str) -> Message:
    """The response to other questions: where help is."""
    shown = gettext("Sorry, I can't answer “{words}”.", words=layout.cut(typed, _MAX_TYPED))
    rest = gettext("`{help}` shows what you can ask.", help=_help(command))
    return _with_button(f"{shown} {rest}", None)


def _with_button(shown: str, reading: Reading | None) -> Message:
    line = layout.escaped(shown)
    if reading is None:
        return {"text": line}
    return {"text": line, "blocks": [layout.section(line), layout.actions(reading.button)]}
