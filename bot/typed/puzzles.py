"""What was typed and not understood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PuzzleKind = Literal[
    "unknown",
    "which_day",
    "which_month",
    "which_year",
    "which_half",
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
class Puzzle:
    """Something that was typed and not understood; ``choices`` are what it could mean."""

    kind: PuzzleKind
    typed: str
    choices: tuple[str, ...] = ()


class Unclear(Exception):
    """What was typed can be read in more than one way, or in none."""

    def __init__(self, kind: PuzzleKind, typed: str, choices: tuple[str, ...] = ()) -> None:
        super().__init__(kind)
        self.puzzle = Puzzle(kind=kind, typed=typed, choices=choices)
