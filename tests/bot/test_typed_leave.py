"""What people type behind the command, read as leave; what is not sure is asked, never guessed."""

from __future__ import annotations

from calendar import month_name
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.typed_days import is_month_first
from bot.typed_leave import Reader, Wish, read
from storage.values import LeaveType

# A Monday.
TODAY = date(2026, 6, 1)


def a_type(name: str, code: str = "", *, is_archived: bool = False) -> LeaveType:
    blank: dict[str, Any] = dict.fromkeys(LeaveType._fields)
    code = code or name.split()[0].casefold()
    return LeaveType(**blank | {"id": code, "name": name, "code": code, "is_archived": is_archived})


TYPES = [
    a_type("Annual leave"),
    a_type("Sick leave"),
    a_type("Unpaid leave"),
    a_type("Parental leave"),
    a_type("Compassionate leave"),
    a_type("Study & rest", "study-rest"),
    a_type("Sabbatical", is_archived=True),
]


def wish(
    typed: str,
    *,
    today: date = TODAY,
    types: list[LeaveType] = TYPES,
    is_month_first: bool | None = False,
    weekdays: frozenset[int] = frozenset(range(5)),
) -> Wish:
    return read(typed, Reader(today, types, is_month_first, weekdays))


def dates_of(found: Wish) -> tuple[str, str] | None:
    if found.start_date is None or found.end_date is None:
        return None
    return found.start_date.isoformat(), found.end_date.isoformat()


@pytest.mark.parametrize(
    ("typed", "first", "last"),
    [
        ("today", "2026-06-01", "2026-06-01"),
        ("Tomorrow", "2026-06-02", "2026-06-02"),
        ("yesterday", "2026-05-31", "2026-05-31"),
        ("mon", "2026-06-01", "2026-06-01"),
        ("fri", "2026-06-05", "2026-06-05"),
        ("on Friday", "2026-06-05", "2026-06-05"),
        ("this fri", "2026-06-05", "2026-06-05"),
        ("next fri", "2026-06-12", "2026-06-12"),
        ("next week", "2026-06-08", "2026-06-12"),
        ("3 aug", "2026-08-03", "2026-08-03"),
        ("3rd of August", "2026-08-03", "2026-08-03"),
        ("August 3rd", "2026-08-03", "2026-08-03"),
        ("Aug. 3, 2027", "2027-08-03", "2027-08-03"),
        ("mon 3 aug", "2026-08-03", "2026-08-03"),
        ("3-aug-2027", "2027-08-03", "2027-08-03"),
        ("1 jun", "2026-06-01", "2026-06-01"),
        ("31 may", "2027-05-31", "2027-05-31"),
        ("29 feb", "2028-02-29", "2028-02-29"),
        ("2026-12-24", "2026-12-24", "2026-12-24"),
        ("24/12", "2026-12-24", "2026-12-24"),
        ("24.12.", "2026-12-24", "2026-12-24"),
        ("24/12/26", "2026-12-24", "2026-12-24"),
        ("3-7 aug", "2026-08-03", "2026-08-07"),
        ("3 – 7 aug 2027", "2027-08-03", "2027-08-07"),
        ("aug 3-7", "2026-08-03", "2026-08-07"),
        ("aug 3-7 2027", "2027-08-03", "2027-08-07"),
        ("from 3 aug until 7 aug", "2026-08-03", "2026-08-07"),
        ("3 aug to 7th", "2026-08-03", "2026-08-07"),
        ("3/8-7/8", "2026-08-03", "2026-08-07"),
        ("3.8.-7.8.2027", "2027-08-03", "2027-08-07"),
        ("2026-12-24..2027-01-02", "2026-12-24", "2027-01-02"),
        ("24 dec - 2 jan", "2026-12-24", "2027-01-02"),
        ("24 dec to 2 jan 2028", "2027-12-24", "2028-01-02"),
        ("mon-wed", "2026-06-01", "2026-06-03"),
        ("fri - tue", "2026-06-05", "2026-06-09"),
        ("next mon - wed", "2026-06-08", "2026-06-10"),
        ("today - fri", "2026-06-01", "2026-06-05"),
        ("25 may - today", "2026-05-25", "2026-06-01"),
    ],
)
def test_days_that_can_be_read_in_one_way(typed: str, first: str, last: str) -> None:
    found = wish(typed)

    assert dates_of(found) == (first, last)
    assert (found.start_half_day, found.end_half_day, found.leave_type_id) == (None, None, None)
    assert found.puzzles == ()


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("12-14", "which_month"),
        ("12", "which_month"),
        ("7-3 aug", "which_day"),
        ("until fri", "which_day"),
        ("next fri - next tue", "which_day"),
        ("25 may - 5 jun", "which_year"),
        ("10 sep - 3 aug", "which_year"),
        ("1 aug - today", "which_year"),
        ("tue 3 aug", "which_year"),
        ("tue 2026-08-03", "impossible_day"),
        ("31 feb", "impossible_day"),
        ("2026-13-01", "impossible_day"),
        ("31/31", "impossible_day"),
        ("0 aug", "impossible_day"),
        ("3 aug 7 aug", "several_days"),
        ("mon, wed, fri", "several_days"),
        ("pm", "half_of_which_day"),
    ],
)
def test_days_that_are_not_sure_are_asked_for(typed: str, kind: str) -> None:
    found = wish(f"{typed} sick")

    assert dates_of(found) is None
    assert [one.kind for one in found.puzzles] == [kind]
    assert found.leave_type_id == "sick"
    assert found.is_about_leave


@pytest.mark.parametrize(
    ("typed", "start", "end"),
    [
        ("fri pm", "pm", None),
        ("fri afternoon", "pm", None),
        ("fri am", None, "am"),
        ("morning of 3 aug", None, "am"),
        ("pm tomorrow", "pm", None),
        ("half day pm fri", "pm", None),
        ("fri am pm", None, None),
        ("3 aug pm - 7 aug", "pm", None),
        ("3 aug - 7 aug am", None, "am"),
        ("3-7 aug am", None, "am"),
        ("3 aug pm - 7 aug am", "pm", "am"),
        ("3 aug am - 7 aug pm", None, None),
        ("next week am", None, "am"),
    ],
)
def test_halves_belong_to_the_day_beside_them(
    typed: str, start: str | None, end: str | None
) -> None:
    found = wish(typed)

    assert (found.start_half_day, found.end_half_day, found.puzzles) == (start, end, ())


@pytest.mark.parametrize("typed", ["3-7 aug pm", "half day fri", "3-7 aug half", "3-7 aug am pm"])
def test_a_half_that_is_not_sure_leaves_the_days_as_they_are(typed: str) -> None:
    found = wish(typed)

    assert dates_of(found) is not None
    assert (found.start_half_day, found.end_half_day) == (None, None)
    assert [one.kind for one in found.puzzles] == ["which_half"]


@pytest.mark.parametrize(
    ("typed", "leave_type_id"),
    [
        ("sick", "sick"),
        ("Sick leave", "sick"),
        ("SICK LEAVE fri", "sick"),
        ("fri unpaid", "unpaid"),
        ("comp", "compassionate"),
        ("u", "unpaid"),
        ("study & rest on fri", "study-rest"),
        ("study-rest", "study-rest"),
        ("stud", "study-rest"),
        ("sick sick", "sick"),
    ],
)
def test_a_type_is_found_by_code_name_or_beginning(typed: str, leave_type_id: str) -> None:
    found = wish(typed)

    assert (found.leave_type_id, found.puzzles) == (leave_type_id, ())


def test_types_that_are_not_sure_are_asked_for() -> None:
    either, both, archived = wish("s fri"), wish("sick annual"), wish("sabbatical")

    assert [(one.kind, one.typed, one.choices) for one in either.puzzles] == [
        ("which_type", "s", ("Sick leave", "Study & rest"))
    ]
    assert dates_of(either) == ("2026-06-05", "2026-06-05")
    assert [one.kind for one in both.puzzles] == ["several_types"]
    assert [one.kind for one in archived.puzzles] == ["unknown"]
    assert (either.leave_type_id, both.leave_type_id, archived.leave_type_id) == (None, None, None)


def test_a_type_may_be_called_like_a_day() -> None:
    types = [*TYPES, a_type("May day", "may-day"), a_type("Next fri")]

    assert wish("may day 3 aug", types=types).leave_type_id == "may-day"
    assert wish("may-day", types=types).leave_type_id == "may-day"
    assert dates_of(wish("3 may", types=types)) == ("2027-05-03", "2027-05-03")


def test_two_types_of_one_name_are_asked_about() -> None:
    types = [a_type("Study leave", "one"), a_type("Study leave", "two")]

    (puzzle,) = wish("study leave", types=types).puzzles
    assert puzzle.kind == "which_type"


def test_what_is_not_understood_is_repeated() -> None:
    found = wish("fly me to the moon on fri <@U1|ada>")

    assert dates_of(found) is None
    assert [one.typed for one in found.puzzles if one.kind == "unknown"] == [
        "fly me",
        "moon",
        "<@u1|ada>",
    ]
    assert not wish("tell me a joke").is_about_leave
    assert not wish("").is_about_leave


@pytest.mark.parametrize(
    ("country_code", "typed", "day"),
    [
        ("GB", "3/8", "2026-08-03"),
        ("GB-SCT", "3/8", "2026-08-03"),
        ("US", "3/8", "2027-03-08"),
        ("US-CA", "8/3/2026", "2026-08-03"),
        ("US", "24/12", "2026-12-24"),
        ("US", "7/7", "2026-07-07"),
        ("GB", "12/24", "2026-12-24"),
        ("DE", "3.8.", "2026-08-03"),
        ("CA", "3/8", None),
        ("CA", "24/12", "2026-12-24"),
        ("US", "3.8.", None),
    ],
)
def test_the_country_says_which_number_is_the_day(
    country_code: str, typed: str, day: str | None
) -> None:
    found = wish(typed, is_month_first=is_month_first(country_code))

    assert dates_of(found) == (None if day is None else (day, day))
    assert [one.kind for one in found.puzzles] == ([] if day else ["which_day"])


def test_this_weekday_that_has_passed_is_asked_about() -> None:
    assert [one.kind for one in wish("this mon", today=date(2026, 6, 3)).puzzles] == ["which_day"]


def test_next_week_is_asked_about_where_people_work_at_weekends() -> None:
    found = wish("next week", weekdays=frozenset({6, 0, 1, 2, 3}))

    assert [one.kind for one in found.puzzles] == ["which_day"]


def test_next_week_is_the_days_that_one_works() -> None:
    found = wish("next week", weekdays=frozenset({1, 2, 3}))

    assert dates_of(found) == ("2026-06-09", "2026-06-11")


def typed_in_many_ways(day: date) -> st.SearchStrategy[str]:
    month = month_name[day.month].casefold()
    return st.sampled_from(
        [
            day.isoformat(),
            f"{day.day} {month} {day.year}",
            f"{day.day} {month[:3]}, {day.year}",
            f"{month[:3].title()} {day.day} {day.year}",
            f"{day.day}/{day.month}/{day.year}",
            f"{day.day:02}.{day.month:02}.{day.year}",
        ]
    )


@given(
    st.data(),
    st.dates(date(2000, 1, 1), date(2099, 12, 31)),
    st.integers(0, 366),
    st.dates(date(2020, 1, 1), date(2035, 12, 31)),
)
def test_days_with_their_years_are_read_however_they_are_written(
    data: st.DataObject, first: date, length: int, today: date
) -> None:
    last = first + timedelta(days=length)
    joined = data.draw(st.sampled_from([" - ", " to ", "-", "..", " until "]))
    typed = data.draw(typed_in_many_ways(first)) + joined + data.draw(typed_in_many_ways(last))

    found = wish(typed, today=today)

    assert (found.start_date, found.end_date, found.puzzles) == (first, last, ())


@given(st.dates(date(2020, 1, 1), date(2035, 12, 31)), st.integers(0, 364), st.integers(0, 180))
def test_days_without_a_year_are_the_next_ones(today: date, ahead: int, length: int) -> None:
    first = today + timedelta(days=ahead)
    last = first + timedelta(days=length)

    found = wish(f"{first:%-d %b} - {last:%-d %b}", today=today)

    if found.start_date is None:
        assert [one.kind for one in found.puzzles] == ["which_year"]
    elif (2, 29) not in [(one.month, one.day) for one in (first, last)]:
        assert (found.start_date, found.end_date) == (first, last)


PIECES = st.sampled_from(
    ["3", "7", "99", "2026", "0000", "9999", "aug", "may", "fri", "next", "this", "next week"]
    + ["-", "to", "until", "..", "/", ".", ",", ";", "am", "pm", "half", "day", "sick", "s", "the"]
    + ["3/8", "31.12.9999", "29 feb", "2026-12-24", "today", "yesterday", "leave", "study-rest"]
)


@given(
    st.text(max_size=300)
    | st.lists(PIECES, max_size=12).map(" ".join)
    | st.lists(PIECES).map("".join),
    st.dates(date(2000, 1, 1), date(2099, 12, 31)),
    st.sampled_from([True, False, None]),
)
def test_whatever_is_typed_is_read_or_asked_about(
    typed: str, today: date, month_first: bool | None
) -> None:
    found = wish(typed, today=today, is_month_first=month_first)

    assert (found.start_date is None) == (found.end_date is None)
    assert found.start_date is not None or (found.start_half_day, found.end_half_day) == (None,) * 2
    assert found.start_half_day in (None, "pm")
    assert found.end_half_day in (None, "am")
    assert len(found.puzzles) <= 200
