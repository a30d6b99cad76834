"""Work typed after the command, for time in lieu. Today is Thursday, 19 November 2026."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.parsing import typed_work
from bot.parsing.typed_leave import ParsingContext

TODAY = date(2026, 11, 19)
SATURDAY = date(2026, 11, 14)
CONTEXT = ParsingContext(
    today=TODAY,
    leave_types=[],
    is_month_first=False,
    weekdays=frozenset(range(5)),
    language="en",
)


@pytest.mark.parametrize(
    ("typed", "worked_on", "days", "reason"),
    [
        ("worked sat 1 day release", SATURDAY, 1, "release"),
        ("worked saturday 0.5 release", SATURDAY, 0.5, "release"),
        ("worked sat half a day", SATURDAY, 0.5, None),
        ("worked 14 nov 1 day", SATURDAY, 1, None),
        ("gearbeitet sa 1 Tag Release", SATURDAY, 1, "Release"),
        ("gearbeitet Samstag einen halben Tag Umzug", SATURDAY, 0.5, "Umzug"),
        ("gearbeitet am 14. November 1,5 Tage: Messe", SATURDAY, 1.5, "Messe"),
        ("ich habe gearbeitet gestern ½ Tag", date(2026, 11, 18), 0.5, None),
        ("i worked half a day on sunday on-call", date(2026, 11, 15), 0.5, "on-call"),
        ("worked 1 day on sat: Release &amp; fix", SATURDAY, 1, "Release & fix"),
        ("worked sat for half a day because of the release", SATURDAY, 0.5, "the release"),
        ("worked 14/11 0,5", SATURDAY, 0.5, None),
        ("worked 2026-11-14 1d", SATURDAY, 1, None),
        ("worked the 14th 1 day", SATURDAY, 1, None),
        ("worked 26 dec 1 day", date(2025, 12, 26), 1, None),
        ("worked thursday 2", TODAY, 2, None),
        ("worked this monday 1 day", date(2026, 11, 16), 1, None),
        # A whole number is only days with a unit or at the end.
        ("worked sat 2 servers failed", SATURDAY, None, "2 servers failed"),
        ("worked sat release of 2.0", SATURDAY, None, "release of 2.0"),
        ("worked release", None, None, "release"),
        ("worked", None, None, None),
        ("worked sat 3 days", SATURDAY, 3, None),
        ("worked tomorrow 1 day", date(2026, 11, 20), 1, None),
    ],
)
def test_the_day_the_days_and_the_reason_are_read(
    typed: str, worked_on: date | None, days: float | None, reason: str | None
) -> None:
    work = typed_work.parse(typed, CONTEXT)

    assert (work.worked_on, work.days, work.reason) == (worked_on, days, reason)
    assert work.problems == ()


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("worked next sat 1 day", "which_day"),
        ("worked 30 feb 1 day", "impossible_day"),
        ("worked sat 13 nov 1 day", "which_year"),
    ],
)
def test_unclear_days_are_problems(typed: str, kind: str) -> None:
    work = typed_work.parse(typed, CONTEXT)

    assert work.worked_on is None
    assert [problem.kind for problem in work.problems] == [kind]
    assert work.days == 1


def test_only_these_words_begin_it() -> None:
    begun = [
        typed_work.language_of(typed) for typed in ("Worked", "gearbeitet sa", "i've worked x")
    ]

    assert begun == ["en", "de", "en"]
    for other in ("3-7 aug", "workedout", "off sat, worked late", "", "arbeit"):
        assert typed_work.language_of(other) is None
    for home in ("worked from home mon", "i worked remotely", "gearbeitet von zu Hause"):
        assert typed_work.language_of(home) is None


@given(st.dates(date(2020, 1, 1), date(2035, 12, 31)), st.integers(0, 6))
def test_a_weekday_is_the_latest_such_day(today: date, weekday: int) -> None:
    name = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")[weekday]

    work = typed_work.parse(f"worked {name} 1 day", replace(CONTEXT, today=today))

    assert work.worked_on is not None
    assert work.worked_on.weekday() == weekday
    assert timedelta() <= today - work.worked_on < timedelta(days=7)


@given(st.text(max_size=100))
def test_any_text_is_read_without_errors(typed: str) -> None:
    for language in ("en", "de"):
        work = typed_work.parse(f"worked {typed}", replace(CONTEXT, language=language))

        assert work.days is None or work.days >= 0
