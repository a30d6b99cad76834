"""Sentences about typed words that were not understood."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block
from bot.base.language import gettext, gettext_noop
from bot.blocks import text, words
from bot.typed.problems import Problem, ProblemKind

_MAX_PROBLEMS: Final = 8
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
}


def asides(problems: Sequence[Problem]) -> list[Block]:
    """The words typed after the command that were not understood, as sentences."""
    if not problems:
        return []
    lines = [_problem_sentence(problem) for problem in problems[:_MAX_PROBLEMS]]
    block = text.paragraph("\n".join(lines))
    return [{"block_id": ids.ASIDES, **block}]


def _problem_sentence(problem: Problem) -> str:
    typed = text.cut(problem.typed, text.MAX_NAME)
    choices = words.names([text.cut(choice, text.MAX_NAME) for choice in problem.choices])
    return gettext(_PROBLEM_SENTENCES[problem.kind], typed=typed, choices=choices)
