"""Typed text that was not understood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ProblemKind = Literal[
    "unknown",
    "which_day",
    "which_month",
    "which_year",
    "which_half",
    "which_part_of_day",
    "half_of_which_day",
    "impossible_day",
    "several_days",
    "which_first_day",
    "which_last_day",
    "which_length",
    "which_type",
    "several_types",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """A typed text that was not understood; ``choices`` are its possible meanings."""

    kind: ProblemKind
    typed: str
    choices: tuple[str, ...] = ()


class Unclear(Exception):
    """The typed text has more than one meaning, or none."""

    def __init__(self, kind: ProblemKind, typed: str, choices: tuple[str, ...] = ()) -> None:
        super().__init__(kind)
        self.problem = Problem(kind=kind, typed=typed, choices=choices)
