"""Messages with what a translation of them needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Final


class HalfDays(Fraction):
    """An amount of leave in a sentence, in half-days."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Days:
    """Sorted dates in a sentence, which names the first few and counts the others."""

    dates: tuple[date, ...]

    def runs(self) -> list[tuple[date, date]]:
        """The first and last date of each run of consecutive dates."""
        runs: list[tuple[date, date]] = []
        for day in self.dates:
            if runs and (day - runs[-1][1]).days == 1:
                runs[-1] = (runs[-1][0], day)
            else:
                runs.append((day, day))
        return runs


@dataclass(frozen=True, kw_only=True, slots=True)
class ShortDay:
    """A date in a sentence without its year: ``Fri 18 Dec``."""

    day: date


# The values that fill a sentence's placeholders.
Figure = HalfDays | int | date | str | Days | ShortDay | tuple[str, ...]
_MAX_RUNS_NAMED: Final = 10


class Sentence(str):
    """An error message in English, with what a translation needs.

    ``template`` has ``{placeholders}`` for the ``figures``. Years are text, since numbers get
    thousands separators.
    """

    template: str
    figures: Mapping[str, Figure]

    def __new__(cls, template: str, /, **figures: Figure) -> Sentence:
        if isinstance(template, Sentence) and not figures:
            return template
        shown = {name: _in_english(figure) for name, figure in figures.items()}
        sentence = super().__new__(cls, template.format(**shown) if shown else template)
        sentence.template, sentence.figures = template, figures
        return sentence


def _in_english(figure: Figure) -> str:
    match figure:
        case HalfDays():
            return f"{round(float(figure / 2), 2):g} {'day' if figure == 2 else 'days'}"
        case int():
            return f"{figure:,}"
        case Days():
            runs = figure.runs()
            named = [
                str(first) if first == last else f"{first} to {last}"
                for first, last in runs[:_MAX_RUNS_NAMED]
            ]
            more = sum((last - first).days + 1 for first, last in runs[_MAX_RUNS_NAMED:])
            return ", ".join([*named, f"{more} more"] if more else named)
        case ShortDay():
            return f"{figure.day:%a} {figure.day.day} {figure.day:%b}"
        case tuple():
            return ", ".join(figure)
    return str(figure)
