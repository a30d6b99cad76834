"""Text typed after the command, parsed as leave; ambiguous text becomes a problem."""

from __future__ import annotations

from calendar import month_name
from datetime import date, timedelta
from typing import Any

import pytest
from babel.dates import format_date
from hypothesis import example, given
from hypothesis import strategies as st

from bot.base.language import available, gettext, locale, using_locale
from bot.message_views import answers
from bot.parsing.typed_dates import is_month_first
from bot.parsing.typed_leave import ParsedLeave, ParsingContext, parse
from storage.base.leave_values import LeaveType
from storage.base.values import field_names

# A Monday.
TODAY = date(2026, 6, 1)


def a_type(
    name: str,
    code: str = "",
    *,
    is_archived: bool = False,
    requires_approval: bool = True,
    is_away: bool = True,
) -> LeaveType:
    blank: dict[str, Any] = dict.fromkeys(field_names(LeaveType))
    code = code or name.split()[0].casefold()
    named = {"id": code, "name": name, "code": code}
    rules = {
        "is_archived": is_archived,
        "requires_approval": requires_approval,
        "is_away": is_away,
    }
    return LeaveType(**blank | named | rules)


TYPES = [
    a_type("Annual leave"),
    a_type("Sick leave", requires_approval=False),
    a_type("Unpaid leave"),
    a_type("Parental leave"),
    a_type("Compassionate leave"),
    a_type("Study & rest", "study-rest"),
    a_type("Sabbatical", is_archived=True),
]


def parsed(
    typed: str,
    *,
    today: date = TODAY,
    types: list[LeaveType] = TYPES,
    is_month_first: bool | None = False,
    weekdays: frozenset[int] = frozenset(range(5)),
    language: str = "en",
    main_type_id: str | None = None,
    holidays: dict[str, date] | None = None,
) -> ParsedLeave:
    return parse(
        typed,
        ParsingContext(
            today=today,
            leave_types=types,
            is_month_first=is_month_first,
            weekdays=weekdays,
            language=language,
            main_type_id=main_type_id,
            holidays=holidays or {},
        ),
    )


def dates_of(leave: ParsedLeave) -> tuple[str, str] | None:
    if leave.start_date is None or leave.end_date is None:
        return None
    return leave.start_date.isoformat(), leave.end_date.isoformat()


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
        ("the day after tomorrow", "2026-06-03", "2026-06-03"),
        ("day before yesterday", "2026-05-30", "2026-05-30"),
        ("tomorrow - the day after tomorrow", "2026-06-02", "2026-06-03"),
        ("in 3 days", "2026-06-04", "2026-06-04"),
        ("in two weeks", "2026-06-15", "2026-06-15"),
        ("last fri", "2026-05-29", "2026-05-29"),
        ("coming fri", "2026-06-05", "2026-06-05"),
        ("coming mon", "2026-06-08", "2026-06-08"),
        ("last week", "2026-05-25", "2026-05-29"),
        ("since friday", "2026-05-29", "2026-06-01"),
        ("since monday", "2026-05-25", "2026-06-01"),
        ("since this monday", "2026-06-01", "2026-06-01"),
        ("since yesterday", "2026-05-31", "2026-06-01"),
        ("since 20 may", "2026-05-20", "2026-06-01"),
        ("since 1 june", "2026-06-01", "2026-06-01"),
        ("since fri until wed", "2026-05-29", "2026-06-03"),
        ("week of 11 january", "2027-01-11", "2027-01-15"),
        ("the week of the 13th of january", "2027-01-11", "2027-01-15"),
        ("2027-06-14 for 3 days", "2027-06-14", "2027-06-16"),
        ("3 days from 2027-06-14", "2027-06-14", "2027-06-16"),
        ("from monday for five days", "2026-06-01", "2026-06-05"),
        ("tomorrow for a day", "2026-06-02", "2026-06-02"),
        ("a day off on friday", "2026-06-05", "2026-06-05"),
        ("3 aug for 2 weeks", "2026-08-03", "2026-08-14"),
        ("wed for a week", "2026-06-03", "2026-06-09"),
        ("2027-06-14 2027-06-16", "2027-06-14", "2027-06-16"),
        ("14.6.2027 16.6.2027", "2027-06-14", "2027-06-16"),
        ("i'm off tomorrow", "2026-06-02", "2026-06-02"),
    ],
)
def test_unambiguous_days_are_filled_in(typed: str, first: str, last: str) -> None:
    leave = parsed(typed)

    assert dates_of(leave) == (first, last)
    assert (leave.start_half_day, leave.end_half_day, leave.leave_type_id) == (None, None, None)
    assert leave.problems == ()


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
        ("2027-06-14, 2027-06-16", "several_days"),
        ("2027-06-14 and 2027-06-16", "several_days"),
        ("from 3 aug", "which_last_day"),
        ("from 3 aug to", "which_day"),
        ("since 3 jun", "which_year"),
        ("since 2026-06-03", "which_day"),
        ("since tomorrow", "which_day"),
        ("since this fri", "which_day"),
        ("fri since", "which_day"),
        ("since", "which_first_day"),
        ("from next week", "which_day"),
        ("next week 2 days", "which_length"),
        ("3-7 aug 5 days", "which_length"),
        ("fri for 3 days", "which_length"),
        ("mon for 6 days", "which_length"),
        ("mon for 0 days", "which_length"),
        ("3 days", "which_first_day"),
        ("week of 3", "which_month"),
        ("week of", "which_first_day"),
        ("week of 3 aug - 7 aug", "several_days"),
        ("31.12.9999 for 3 days", "impossible_day"),
        ("mon, wed, fri", "several_days"),
        ("pm", "half_of_which_day"),
    ],
)
def test_ambiguous_days_stay_empty_with_a_reason(typed: str, kind: str) -> None:
    leave = parsed(f"{typed} annual")

    assert dates_of(leave) is None
    assert [problem.kind for problem in leave.problems] == [kind]
    assert leave.leave_type_id == "annual"
    assert leave.is_about_leave


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
def test_halves_belong_to_the_adjacent_day(typed: str, start: str | None, end: str | None) -> None:
    leave = parsed(typed)

    assert (leave.start_half_day, leave.end_half_day, leave.problems) == (start, end, ())


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("3-7 aug pm", "which_half"),
        ("half day fri", "which_part_of_day"),
        ("3-7 aug half", "which_half"),
        ("3-7 aug am pm", "which_half"),
    ],
)
def test_an_ambiguous_half_keeps_the_days(typed: str, kind: str) -> None:
    leave = parsed(typed)

    assert dates_of(leave) is not None
    assert (leave.start_half_day, leave.end_half_day) == (None, None)
    assert [problem.kind for problem in leave.problems] == [kind]


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
def test_a_leave_type_is_found_by_code_name_or_prefix(typed: str, leave_type_id: str) -> None:
    leave = parsed(typed)

    assert (leave.leave_type_id, leave.problems) == (leave_type_id, ())


def test_ambiguous_leave_types_stay_empty_with_a_reason() -> None:
    either, both, archived = parsed("s fri"), parsed("sick annual"), parsed("sabbatical")

    assert [(problem.kind, problem.typed, problem.choices) for problem in either.problems] == [
        ("which_type", "s", ("Sick leave", "Study & rest"))
    ]
    assert dates_of(either) == ("2026-06-05", "2026-06-05")
    assert [problem.kind for problem in both.problems] == ["several_types"]
    assert [problem.kind for problem in archived.problems] == ["unknown"]
    assert (either.leave_type_id, both.leave_type_id, archived.leave_type_id) == (None, None, None)


def test_a_leave_type_may_be_named_like_a_day() -> None:
    types = [*TYPES, a_type("May day", "may-day"), a_type("Next fri")]

    assert parsed("may day 3 aug", types=types).leave_type_id == "may-day"
    assert parsed("may-day", types=types).leave_type_id == "may-day"
    assert dates_of(parsed("3 may", types=types)) == ("2027-05-03", "2027-05-03")


def test_a_word_for_leave_names_a_leave_type_only_if_a_type_has_that_name() -> None:
    types = [*TYPES, a_type("Holiday allowance", "hol"), a_type("Urlaub (bezahlt)", "bezahlt")]

    english, german = parsed("holiday 3 aug"), parsed("Urlaub am 3. August", language="de")

    assert dates_of(english) == dates_of(german) == ("2026-08-03", "2026-08-03")
    assert (english.leave_type_id, english.problems) == (None, ())
    assert (german.leave_type_id, german.problems) == (None, ())
    assert parsed("holiday 3 aug", types=types).leave_type_id == "hol"
    assert parsed("urlaub morgen", types=types, language="de").leave_type_id == "bezahlt"


def test_the_shared_name_of_two_leave_types_is_ambiguous() -> None:
    types = [a_type("Study leave", "one"), a_type("Study leave", "two")]

    (problem,) = parsed("study leave", types=types).problems
    assert problem.kind == "which_type"


def test_unknown_words_are_repeated() -> None:
    leave = parsed("fly me to the moon on fri <@U1|ada>")

    assert dates_of(leave) is None
    assert [problem.typed for problem in leave.problems if problem.kind == "unknown"] == [
        "fly me",
        "moon",
        "<@u1|ada>",
    ]
    assert not parsed("tell me a joke").is_about_leave
    assert not parsed("").is_about_leave


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
def test_the_country_decides_the_order_of_day_and_month(
    country_code: str, typed: str, day: str | None
) -> None:
    leave = parsed(typed, is_month_first=is_month_first(country_code))

    assert dates_of(leave) == (None if day is None else (day, day))
    assert [problem.kind for problem in leave.problems] == ([] if day else ["which_day"])


# A Sunday.
LATE_NOVEMBER = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("typed", "first", "last"),
    [
        ("sick 20 nov", "2026-11-20", "2026-11-20"),
        ("sick 22 nov", "2026-11-22", "2026-11-22"),
        ("sick 23 nov", "2026-11-23", "2026-11-23"),
        ("sick 18-20 nov", "2026-11-18", "2026-11-20"),
        ("sick 20-24 nov", "2026-11-20", "2026-11-24"),
        ("sick 20 nov - today", "2026-11-20", "2026-11-22"),
        ("sick fri 20 nov", "2026-11-20", "2026-11-20"),
        ("sick sat 20 nov", "2027-11-20", "2027-11-20"),
        ("sick 1 sep", "2026-09-01", "2026-09-01"),
        ("sick 1 aug", "2027-08-01", "2027-08-01"),
        ("sick 20 nov 2027", "2027-11-20", "2027-11-20"),
        ("sick fri", "2026-11-20", "2026-11-20"),
        ("sick sun", "2026-11-22", "2026-11-22"),
        ("sick wed-fri", "2026-11-18", "2026-11-20"),
        ("sick fri for 1 day", "2026-11-20", "2026-11-20"),
        ("sick next fri", "2026-11-27", "2026-11-27"),
        ("sick since friday", "2026-11-20", "2026-11-22"),
        ("sick week of 16 nov", "2026-11-16", "2026-11-20"),
        ("annual 20 nov", "2027-11-20", "2027-11-20"),
        ("annual fri", "2026-11-27", "2026-11-27"),
        ("20 nov", "2027-11-20", "2027-11-20"),
    ],
)
def test_leave_that_is_recorded_afterwards_prefers_the_near_past(
    typed: str, first: str, last: str
) -> None:
    leave = parsed(typed, today=LATE_NOVEMBER)

    assert (dates_of(leave), leave.problems) == ((first, last), ())


def test_an_ambiguous_leave_type_does_not_prefer_the_past() -> None:
    assert dates_of(parsed("s 20 nov", today=LATE_NOVEMBER)) == ("2027-11-20", "2027-11-20")


def test_the_week_of_a_day_that_passed_this_week_is_ambiguous() -> None:
    leave = parsed("week of 16 nov", today=LATE_NOVEMBER)

    assert [problem.kind for problem in leave.problems] == ["which_year"]


@pytest.mark.parametrize(
    "typed",
    [
        "3 aug for a decade",
        "3-7 aug except wed",
        "not 3 aug",
        "3 aug sick with fever",
        "3d 3 aug",
    ]
    + ["half of june", "fri or mon", "3-7 aug <!channel>", "3 aug (pm)", "every fri", "3 aug kids"],
)
def test_an_unknown_word_keeps_the_days_empty(typed: str) -> None:
    leave = parsed(typed)

    assert leave.is_about_leave
    assert leave.problems
    assert (leave.start_date, leave.end_date) == (None, None)
    assert (leave.start_half_day, leave.end_half_day) == (None, None)
    assert leave.has_unclear_days


@pytest.mark.parametrize("typed", ["this mon", "last mon"])
def test_a_weekday_that_passed_this_week_is_ambiguous(typed: str) -> None:
    assert [problem.kind for problem in parsed(typed, today=date(2026, 6, 3)).problems] == [
        "which_day"
    ]


def test_next_week_is_ambiguous_for_people_who_work_at_weekends() -> None:
    leave = parsed("next week", weekdays=frozenset({6, 0, 1, 2, 3}))

    assert [problem.kind for problem in leave.problems] == ["which_day"]


def test_next_week_spans_the_persons_working_days() -> None:
    leave = parsed("next week", weekdays=frozenset({1, 2, 3}))

    assert dates_of(leave) == ("2026-06-09", "2026-06-11")


@pytest.mark.parametrize(
    ("typed", "first", "last"),
    [
        ("3.-7. aug", "2026-08-03", "2026-08-07"),
        ("3. - 7. August", "2026-08-03", "2026-08-07"),
        ("3.8. bis 7.8.", "2026-08-03", "2026-08-07"),
        ("vom 3. bis zum 7. August", "2026-08-03", "2026-08-07"),
        ("3. bis einschließlich 7. August", "2026-08-03", "2026-08-07"),
        ("24. Dezember bis 2. Jänner", "2026-12-24", "2027-01-02"),
        ("1. März 2027", "2027-03-01", "2027-03-01"),
        ("1. maerz 2027", "2027-03-01", "2027-03-01"),
        ("1. Ma\u0308rz 2027", "2027-03-01", "2027-03-01"),
        ("heute", "2026-06-01", "2026-06-01"),
        ("Morgen", "2026-06-02", "2026-06-02"),
        ("übermorgen", "2026-06-03", "2026-06-03"),
        ("uebermorgen", "2026-06-03", "2026-06-03"),
        ("morgen bis Freitag", "2026-06-02", "2026-06-05"),
        ("Mo.-Mi.", "2026-06-01", "2026-06-03"),
        ("am Freitag", "2026-06-05", "2026-06-05"),
        ("am 3. August", "2026-08-03", "2026-08-03"),
        ("nächsten Montag", "2026-06-08", "2026-06-08"),
        ("kommenden Freitag", "2026-06-05", "2026-06-05"),
        ("diesen Freitag", "2026-06-05", "2026-06-05"),
        ("letzten Freitag", "2026-05-29", "2026-05-29"),
        ("nächste Woche", "2026-06-08", "2026-06-12"),
        ("seit Freitag", "2026-05-29", "2026-06-01"),
        ("seit dem 20. Mai", "2026-05-20", "2026-06-01"),
        ("Woche vom 11. Januar", "2027-01-11", "2027-01-15"),
        ("in der Woche ab 11.1.", "2027-01-11", "2027-01-15"),
        ("ab 14.6.2027 3 Tage", "2027-06-14", "2027-06-16"),
        ("drei Tage ab Montag", "2026-06-01", "2026-06-03"),
        ("zwei Wochen ab 3. August", "2026-08-03", "2026-08-14"),
        ("in einer Woche", "2026-06-08", "2026-06-08"),
        ("bitte morgen einen Tag frei", "2026-06-02", "2026-06-02"),
        ("ich nehme 3.-7. August Urlaub", "2026-08-03", "2026-08-07"),
        ("3-7 august", "2026-08-03", "2026-08-07"),
        ("next friday", "2026-06-12", "2026-06-12"),
    ],
)
def test_german_readers_may_type_german_or_english_days(typed: str, first: str, last: str) -> None:
    leave = parsed(typed, language="de")

    assert (dates_of(leave), leave.problems) == ((first, last), ())


@pytest.mark.parametrize(
    ("typed", "start", "end"),
    [
        ("morgen Vormittag", None, "am"),
        ("Freitag nachmittags", "pm", None),
        ("Freitagnachmittag", "pm", None),
        ("Freitag am Nachmittag", "pm", None),
        ("am Vormittag des 3. August", None, None),
        ("fr am", None, "am"),
        ("3.8. nachmittags bis 7.8. vormittags", "pm", "am"),
    ],
)
def test_german_halves_are_filled_in(typed: str, start: str | None, end: str | None) -> None:
    leave = parsed(typed, language="de")

    assert (leave.start_half_day, leave.end_half_day) == (start, end)


@pytest.mark.parametrize(
    ("typed", "kind"),
    [
        ("ab Freitag", "which_last_day"),
        ("bis Freitag", "which_day"),
        ("nächsten Freitag", "which_day"),
        ("Freitag für 3 Tage", "which_length"),
        ("halber Tag Freitag", "which_part_of_day"),
        ("Montag und Mittwoch", "several_days"),
        ("3.-7. Aug außer Mittwoch", "several_days"),
        ("diese Woche", "unknown"),
        ("im August", "unknown"),
        ("3. August mittags", "unknown"),
        ("nächsten Montag nicht", "unknown"),
    ],
)
def test_ambiguous_german_is_a_problem(typed: str, kind: str) -> None:
    leave = parsed(typed, language="de")

    assert kind in [problem.kind for problem in leave.problems]
    assert kind == "which_part_of_day" or dates_of(leave) is None


@pytest.mark.parametrize("typed", ["morgen", "3. August bis 7. Oktober", "übermorgen", "fr"])
def test_english_readers_cannot_type_german(typed: str) -> None:
    leave = parsed(typed)

    assert (dates_of(leave), [problem.kind for problem in leave.problems][:1]) == (
        None,
        ["unknown"],
    )


@given(
    st.sampled_from(["d. MMMM y", "EEEE, d. MMMM y", "EEE, d. MMM y", "d.M.y", "dd.MM.yy"]),
    st.dates(date(2000, 1, 1), date(2099, 12, 31)),
    st.integers(0, 366),
)
@example("dd.MM.yy", date(2099, 12, 31), 1)
def test_days_in_german_formats_are_filled_in(pattern: str, first: date, length: int) -> None:
    # Two-digit years are 2000 to 2099.
    last = min(first + timedelta(days=length), date(2099, 12, 31))
    typed = " bis ".join(format_date(day, pattern, locale="de") for day in (first, last))

    leave = parsed(typed, language="de")

    assert (leave.start_date, leave.end_date, leave.problems) == (first, last, ())


def test_a_two_digit_year_is_in_the_21st_century() -> None:
    assert dates_of(parsed("31.12.99 - 1.1.00")) == ("2099-12-31", "2000-01-01")


@pytest.mark.parametrize("slack_locale", ["en-GB", *available()])
def test_the_examples_of_the_help_are_understood(slack_locale: str) -> None:
    with using_locale(slack_locale):
        examples = [
            parsed(gettext(typed), language=locale().language) for typed in answers.EXAMPLES
        ]

    assert [leave.problems for leave in examples] == [()] * len(examples)
    assert all(leave.start_date for leave in examples)


def formats_of(day: date) -> st.SearchStrategy[str]:
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
def test_days_with_years_are_filled_in_from_any_format(
    data: st.DataObject, first: date, length: int, today: date
) -> None:
    last = first + timedelta(days=length)
    joined = data.draw(st.sampled_from([" - ", " to ", "-", "..", " until "]))
    typed = data.draw(formats_of(first)) + joined + data.draw(formats_of(last))

    leave = parsed(typed, today=today)

    assert (leave.start_date, leave.end_date, leave.problems) == (first, last, ())


@given(st.dates(date(2020, 1, 1), date(2035, 12, 31)), st.integers(0, 364), st.integers(0, 180))
def test_days_without_a_year_are_the_next_such_days(today: date, ahead: int, length: int) -> None:
    first = today + timedelta(days=ahead)
    last = first + timedelta(days=length)

    leave = parsed(f"{first:%-d %b} - {last:%-d %b}", today=today)

    if leave.start_date is None:
        assert [problem.kind for problem in leave.problems] == ["which_year"]
    elif (2, 29) not in [(day.month, day.day) for day in (first, last)]:
        assert (leave.start_date, leave.end_date) == (first, last)


PIECES = st.sampled_from(
    ["3", "7", "99", "2026", "0000", "9999", "aug", "may", "fri", "next", "this", "next week"]
    + ["-", "to", "until", "..", "/", ".", ",", ";", "am", "pm", "half", "day", "sick", "s", "the"]
    + ["3/8", "31.12.9999", "29 feb", "2026-12-24", "today", "yesterday", "leave", "study-rest"]
    + ["seit", "ab", "bis zum", "nächste woche", "3.", "vormittag", "halber tag", "übermorgen"]
    + ["since", "from", "for 3 days", "2 weeks", "week of", "in 9 weeks", "last", "last week"]
)


UNAMBIGUOUS = st.sampled_from(
    ["3-7 aug", "tomorrow", "next fri pm", "sick since friday", "week of 11 january", "sick 20 may"]
    + ["2027-06-14 for 3 days", "24 dec - 2 jan unpaid", "2027-06-14 2027-06-16", "next week am"]
)


@given(UNAMBIGUOUS, st.text("qxz", min_size=1, max_size=12), st.data())
def test_an_unknown_word_anywhere_is_repeated_and_keeps_the_days_empty(
    unambiguous: str, unknown: str, data: st.DataObject
) -> None:
    words = unambiguous.split()
    words.insert(data.draw(st.integers(0, len(words))), unknown)

    leave = parsed(" ".join(words), language=data.draw(st.sampled_from(["en", "de"])))

    assert any(
        unknown in problem.typed.split() for problem in leave.problems if problem.kind == "unknown"
    )
    assert (leave.start_date, leave.start_half_day, leave.end_half_day) == (None, None, None)


@given(st.dates(date(2020, 1, 1), date(2035, 12, 31)), st.integers(1, 5))
def test_a_number_of_days_means_working_days_or_is_ambiguous(today: date, count: int) -> None:
    first = today + timedelta(days=3)

    leave = parsed(f"{first.isoformat()} for {count} days", today=today)

    days = [first + timedelta(days=index) for index in range(count)]
    if count == 1 or all(day.weekday() < 5 for day in days):
        assert (leave.start_date, leave.end_date, leave.problems) == (first, days[-1], ())
    else:
        assert [problem.kind for problem in leave.problems] == ["which_length"]


@given(
    st.text(max_size=300)
    | st.lists(PIECES, max_size=12).map(" ".join)
    | st.lists(PIECES).map("".join),
    st.dates(date(2000, 1, 1), date(2099, 12, 31)),
    st.sampled_from([True, False, None]),
    st.sampled_from(["en", "de", "es", "fr"]),
)
def test_any_text_gives_valid_leave(
    typed: str, today: date, month_first: bool | None, language: str
) -> None:
    leave = parsed(typed, today=today, is_month_first=month_first, language=language)

    assert (leave.start_date is None) == (leave.end_date is None)
    assert leave.start_date is not None or (leave.start_half_day, leave.end_half_day) == (None,) * 2
    assert leave.start_half_day in (None, "pm")
    assert leave.end_half_day in (None, "am")
    assert len(leave.problems) <= 200
