"""Parts of months, weeks from a weekday, several periods, and typing errors in typed leave."""

from __future__ import annotations

import time
from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bot.parsing import typed_periods
from bot.parsing.languages import LANGUAGES
from bot.parsing.typed_leave import ParsedLeave, ParsingContext, parse
from tests.bot.test_typed_leave import TYPES

# A Monday.
TODAY = date(2026, 11, 23)


def typed(text: str, language: str = "en", names: frozenset[str] = frozenset()) -> ParsedLeave:
    return parse(
        text,
        ParsingContext(
            today=TODAY,
            leave_types=TYPES,
            is_month_first=False,
            weekdays=frozenset(range(5)),
            language=language,
            main_type_id="annual",
            takes_several=True,
            names=names,
        ),
    )


def periods(leave: ParsedLeave) -> list[str]:
    """Each period as ``2026-12-14 2026-12-18``."""
    spans = [(leave.start_date, leave.end_date)]
    spans += [(span.start_date, span.end_date) for span in leave.further]
    return [f"{first} {last}" for first, last in spans if first]


@pytest.mark.parametrize(
    ("text", "language", "period"),
    [
        ("all of january", "en", "2027-01-01 2027-01-31"),
        ("the whole of august 2027 please", "en", "2027-08-01 2027-08-31"),
        ("the last week of december off", "en", "2026-12-28 2026-12-31"),
        ("first week of june", "en", "2027-06-01 2027-06-04"),
        ("the first two weeks of february", "en", "2027-02-01 2027-02-12"),
        ("last 2 weeks of july", "en", "2027-07-19 2027-07-30"),
        ("the second half of march", "en", "2027-03-16 2027-03-31"),
        ("12 april next year", "en", "2027-04-12 2027-04-12"),
        ("a fortnight from 1 june", "en", "2027-06-01 2027-06-14"),
        ("friday week", "en", "2026-12-04 2026-12-04"),
        ("a week on friday", "en", "2026-12-04 2026-12-04"),
        ("letzte dezemberwoche", "de", "2026-12-28 2026-12-31"),
        ("die ersten beiden Februarwochen frei", "de", "2027-02-01 2027-02-12"),
        ("die letzten zwei Wochen im Juli", "de", "2027-07-19 2027-07-30"),
        ("zweite augusthälfte urlaub", "de", "2027-08-16 2027-08-31"),
        ("vom 3. bis 7. mai nächsten jahres", "de", "2027-05-03 2027-05-07"),
        ("les deux premières semaines de février", "fr", "2027-02-01 2027-02-12"),
        ("la première quinzaine d'août", "fr", "2027-08-01 2027-08-15"),
        ("du 3 au 7 mai de l'année prochaine", "fr", "2027-05-03 2027-05-07"),
        ("las dos primeras semanas de febrero", "es", "2027-02-01 2027-02-12"),
        ("la segunda quincena de julio", "es", "2027-07-16 2027-07-31"),
        ("del 3 al 7 de mayo del año que viene", "es", "2027-05-03 2027-05-07"),
        ("die letzte Woche im Dezember", "de", "2026-12-28 2026-12-31"),
        ("den ganzen januar frei", "de", "2027-01-01 2027-01-31"),
        ("urlaub zwischen den jahren", "de", "2026-12-27 2026-12-31"),
        ("la última semana del mes de diciembre de 2027", "es", "2027-12-27 2027-12-31"),
        ("la dernière semaine du mois d'octobre", "fr", "2027-10-25 2027-10-29"),
        ("freitag in einer woche urlaub", "de", "2026-12-04 2026-12-04"),
    ],
)
def test_parts_of_months_and_weeks_are_read(text: str, language: str, period: str) -> None:
    leave = typed(text, language)

    assert leave.problems == ()
    assert periods(leave) == [period]


@pytest.mark.parametrize(
    "text",
    [
        # The week has two working days in July, or seven days earlier five in June.
        "first week of july 2027",
        # On a Monday: in one week or in two?
        "monday week",
        # Part of it is over.
        "all of november",
        "fridays off",
        "monday and wednesday next year",
    ],
)
def test_what_may_be_other_days_is_not_read(text: str) -> None:
    leave = typed(text)

    assert periods(leave) == []
    assert leave.problems


@pytest.mark.parametrize(
    ("text", "language", "kind", "phrase"),
    [
        # August 2027 ends on a Tuesday.
        ("last week of august please", "en", "which_day", "last week of august"),
        ("die letzte Augustwoche frei", "de", "which_day", "die letzte augustwoche"),
        ("vacaciones la última semana de agosto", "es", "which_day", "la última semana de agosto"),
        ("la dernière semaine d'août", "fr", "which_day", "la dernière semaine d'août"),
        ("last week of august next year", "en", "which_day", "last week of august 2027"),
        ("all of november", "en", "which_year", "all of november"),
    ],
)
def test_the_form_asks_which_days_of_an_unclear_part_of_a_month_are_meant(
    text: str, language: str, kind: str, phrase: str
) -> None:
    leave = typed(text, language)

    assert [(problem.kind, problem.typed) for problem in leave.problems] == [(kind, phrase)]
    assert leave.fills_form
    assert periods(leave) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("14–18 dec and the 21st", ["2026-12-14 2026-12-18", "2026-12-21 2026-12-21"]),
        ("14 and 21 dec", ["2026-12-14 2026-12-14", "2026-12-21 2026-12-21"]),
        ("14.-18.12. und am 21.", ["2026-12-14 2026-12-18", "2026-12-21 2026-12-21"]),
        (
            "mon 14 dec, wed 16 dec and 28-30 dec",
            ["2026-12-14 2026-12-14", "2026-12-16 2026-12-16", "2026-12-28 2026-12-30"],
        ),
    ],
)
def test_several_periods_are_read_in_order(text: str, expected: list[str]) -> None:
    leave = typed(text, "de")

    assert leave.problems == ()
    assert periods(leave) == expected


@pytest.mark.parametrize(
    "text", ["21 dec and 14 dec", "14-18 dec and 16 dec", "1, 3, 7, 9, 14 and 16 dec"]
)
def test_periods_out_of_order_and_too_many_are_asked_back(text: str) -> None:
    leave = typed(text)

    assert periods(leave) == []
    assert leave.problems


@pytest.mark.parametrize(
    ("text", "language", "period"),
    [
        ("tomorow mornign", "en", "2026-11-24 2026-11-24"),
        ("vacaton 14-18 decmber", "en", "2026-12-14 2026-12-18"),
        ("annaul leave on wendesday", "en", "2026-11-25 2026-11-25"),
        ("urluab nächse woche", "de", "2026-11-30 2026-12-04"),
        ("mitwoch nachmitag frei", "de", "2026-11-25 2026-11-25"),
    ],
)
def test_one_typing_error_a_word_is_forgiven_and_told(
    text: str, language: str, period: str
) -> None:
    leave = typed(text, language)

    assert leave.problems == ()
    assert periods(leave) == [period]
    assert leave.corrected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("tomorrow in mourning", "en"),
        ("fridays off", "en"),
        ("match on friday", "en"),
        ("zwei nächte ab freitag", "de"),
        ("freitags frei", "de"),
        ("morgen sorgen", "de"),
    ],
)
def test_a_word_of_its_own_is_no_typing_error(text: str, language: str) -> None:
    leave = typed(text, language)

    assert leave.corrected == ()
    assert not leave.fills_form


def test_a_name_is_no_typing_error() -> None:
    assert typed("frida today").corrected
    assert typed("frida today", names=frozenset(("frida",))).corrected == ()


WORDS = st.sampled_from(
    (
        *("tomorow", "mornign", "friday", "week", "the", "last", "first", "all of", "whole"),
        *("december", "dec", "14-18", "14", "21st", "and", "und", "a fortnight", "from", "1 june"),
        *("monday", "in einer woche", "zwischen den jahren", "letzte dezemberwoche", "ganzen"),
        *("januar", "annaul leave", "vacation", "sick", "off", ",", "back", "until", "not", "."),
    )
)


@given(st.lists(WORDS, max_size=12).map(" ".join), st.sampled_from(LANGUAGES))
@example("14 , 21st and 28 dec", "en")
def test_every_sentence_names_its_days_or_its_problem(text: str, language: str) -> None:
    leave = typed(text, language)

    days = [(leave.start_date, leave.end_date)]
    days += [(span.start_date, span.end_date) for span in leave.further]
    named = [day for both in days for day in both if day is not None]
    assert named == sorted(named)
    assert len(named) == 2 * len(days) or not leave.further
    if leave.unknown:
        assert periods(leave) == []


@given(st.lists(WORDS, max_size=9).map(" ".join), st.sampled_from(LANGUAGES))
def test_no_question_fills_a_form(text: str, language: str) -> None:
    for question in (f"{text}?", f"am i off {text}", f"wer ist {text} weg", f"is grace in {text}"):
        assert not typed(question, language).fills_form


@pytest.mark.parametrize("piece", ["tomorow ", "decmber ", "14 dec and ", "last week of "])
def test_long_text_is_read_in_20_milliseconds(piece: str) -> None:
    text = " ".join((piece * 3_000)[:3_000].split())
    typed(text)
    took = []
    for _ in range(5):
        began = time.process_time()
        typed(text)
        took.append(time.process_time() - began)

    assert min(took) < 0.02


def test_the_last_month_that_a_date_can_have_has_an_end() -> None:
    text = typed_periods.with_dates("all of december 9999", "en", date(2026, 6, 1), frozenset({0}))

    assert text == "9999-12-01 - 9999-12-31"
