"""Adds the typed halves to the first and last day of leave. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from bot.typed.problems import Problem
from bot.typed.typed_terms import Word
from storage.base.values import HalfDay


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """The resulting days and halves; all None if no day was named."""

    start_date: date | None = None
    end_date: date | None = None
    start_half_day: HalfDay | None = None
    end_half_day: HalfDay | None = None
    problems: tuple[Problem, ...] = ()


def day_with_halves(day: date, halves: Sequence[Word]) -> Span:
    named = {word.half for word in halves if word.half is not None}
    if halves and not named:
        return Span(
            start_date=day,
            end_date=day,
            problems=(Problem(kind="which_part_of_day", typed=halves[0].typed),),
        )
    if named == {"am"}:
        return Span(start_date=day, end_date=day, start_half_day=None, end_half_day="am")
    return Span(
        start_date=day,
        end_date=day,
        start_half_day="pm" if named == {"pm"} else None,
        end_half_day=None,
    )


def range_with_halves(
    first: date, last: date, of_first: Sequence[Word] | None, of_last: Sequence[Word]
) -> Span:
    """``of_first`` are the halves typed before the last day; None if unknown."""
    problems = [
        Problem(kind="which_half", typed=half.typed) for half in [*(of_first or ()), *of_last]
    ]
    begins, ends = ([word.half for word in halves or ()] for halves in (of_first, of_last))
    if len(begins) > 1 or len(ends) > 1 or None in [*begins, *ends]:
        return Span(start_date=first, end_date=last, problems=tuple(problems[:1]))
    if ends == ["pm"] and not begins:
        # It would have no effect there, so something else is meant.
        return Span(start_date=first, end_date=last, problems=tuple(problems))
    return Span(
        start_date=first,
        end_date=last,
        start_half_day="pm" if begins == ["pm"] else None,
        end_half_day="am" if ends == ["am"] else None,
    )
