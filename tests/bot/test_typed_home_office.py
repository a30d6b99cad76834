"""Typed home office: which type and days it means, and what happens without such a type."""

from __future__ import annotations

from datetime import date

import pytest

from bot.parsing.typed_leave import ParsedLeave
from bot.parsing.typed_phrases import command_of
from storage.base.leave_values import LeaveType
from tests.bot.test_typed_leave import TYPES, a_type, parsed
from tests.bot.world import ADA, GRACE, HEDY, World
from tests.builders import a_leave_type, home_office

# A Monday.
TODAY = date(2026, 6, 1)
HOME = a_type("Home office", "ho", requires_approval=False, is_away=False)
TRIP = a_type("Business trip", "trip", is_away=False)


def typed(text: str, *types: LeaveType, language: str = "en") -> ParsedLeave:
    return parsed(text, types=[*TYPES, *types], language=language, main_type_id="annual")


@pytest.mark.parametrize("name", ["Home office", "Homeoffice", "WFH", "Remote work", "Telearbeit"])
@pytest.mark.parametrize(
    ("text", "language", "first_day"),
    [
        ("wfh tomorrow", "en", date(2026, 6, 2)),
        ("WFH mon", "en", date(2026, 6, 1)),
        ("home office friday", "en", date(2026, 6, 5)),
        ("home-office friday", "de", date(2026, 6, 5)),
        ("working from home on monday", "en", date(2026, 6, 1)),
        ("I'll be working from home tomorrow, please.", "en", date(2026, 6, 2)),
        ("friday from home", "en", date(2026, 6, 5)),
        ("working remotely on 5 june", "en", date(2026, 6, 5)),
        ("home office day on friday", "en", date(2026, 6, 5)),
        ("homeoffice morgen", "de", date(2026, 6, 2)),
        ("morgen im Homeoffice", "de", date(2026, 6, 2)),
        ("ich mache am Freitag Home-Office", "de", date(2026, 6, 5)),
        ("arbeite morgen von zu Hause aus", "de", date(2026, 6, 2)),
        ("mobiles Arbeiten am Freitag", "de", date(2026, 6, 5)),
        ("worked from home yesterday", "en", date(2026, 5, 31)),
        ("I worked remotely yesterday", "en", date(2026, 5, 31)),
        ("habe gestern von zu Hause gearbeitet", "de", date(2026, 5, 31)),
    ],
)
def test_home_office_means_the_type_that_is_called_so(
    text: str, language: str, first_day: date, name: str
) -> None:
    home = a_type(name, "at-home", requires_approval=False, is_away=False)

    leave = typed(text, home, TRIP, language=language)

    assert leave.fills_form
    assert leave.problems == ()
    assert (leave.leave_type_id, leave.start_date, leave.end_date) == (
        home.id,
        first_day,
        first_day,
    )


def test_home_office_in_a_row_of_days_and_in_a_half() -> None:
    week, half = typed("wfh tue-thu", HOME), typed("wfh tomorrow pm", HOME)

    assert (week.start_date, week.end_date) == (date(2026, 6, 2), date(2026, 6, 4))
    assert (half.start_date, half.start_half_day) == (date(2026, 6, 2), "pm")


def test_a_day_at_home_is_the_next_one_although_it_needs_no_approval() -> None:
    """Sick leave on Friday, typed on Monday, is that of last week."""
    assert typed("friday wfh", HOME).start_date == date(2026, 6, 5)
    assert typed("sick friday", HOME).start_date == date(2026, 5, 29)


def test_a_type_that_counts_as_away_is_meant_if_it_is_called_so() -> None:
    home = a_type("Home office", "ho")

    assert typed("wfh tomorrow", home).leave_type_id == home.id


@pytest.mark.parametrize(
    ("types", "choices"),
    [
        ((a_type("Remote work", is_away=False), HOME), ("Home office", "Remote work")),
        # A type with another name is never taken without asking.
        ((TRIP,), ("Business trip",)),
        ((TRIP, a_type("Course", is_away=False)), ("Business trip", "Course")),
    ],
)
def test_people_choose_where_home_office_is_no_types_name_or_that_of_several(
    types: tuple[LeaveType, ...], choices: tuple[str, ...]
) -> None:
    leave = typed("wfh tomorrow", *types)

    (problem,) = leave.problems
    assert (problem.kind, problem.typed, problem.choices) == ("which_type", "wfh", choices)
    assert (leave.leave_type_id, leave.start_date) == (None, date(2026, 6, 2))
    assert leave.fills_form


@pytest.mark.parametrize("text", ["wfh tomorrow", "working from home", "homeoffice am freitag"])
def test_without_a_type_home_office_fills_no_form(text: str) -> None:
    leave = typed(text, a_type("Home office", "ho", is_archived=True, is_away=False), language="de")

    assert leave.lacks_home_office
    assert not leave.fills_form
    assert leave.leave_type_id is None


@pytest.mark.parametrize(
    "text", ["sick at home tomorrow", "i work on friday", "ich arbeite am freitag", "remote friday"]
)
def test_other_words_are_not_taken_for_home_office(text: str) -> None:
    leave = typed(text, HOME, language="de")

    assert leave.leave_type_id != HOME.id
    assert not leave.lacks_home_office


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("who is working from home tomorrow?", "tomorrow"),
        ("who's wfh", ""),
        ("anyone working remotely on friday", "on friday"),
        ("wer ist morgen im Homeoffice?", "morgen"),
        ("wer arbeitet am Freitag von zu Hause", "am freitag"),
    ],
)
def test_who_works_at_home_is_answered_as_who_is_out(text: str, rest: str) -> None:
    command = command_of(text)

    assert command is not None
    assert (command.name, command.rest) == ("out", rest)


def opened(world: World, who: str, text: str) -> str:
    world.command(who, text)
    return world.slack.open_modal(who).visible_text


def test_the_form_opens_with_home_office(world: World) -> None:
    home_office(world.database, world.acme)

    shown = opened(world, ADA, "wfh tomorrow")

    assert "Home office" in shown
    assert "Tue 2 Jun" in shown


def test_a_guess_is_left_to_the_person(world: World) -> None:
    a_leave_type(world.database, world.acme, name="Business trip", is_away=False)

    assert "“wfh” could mean Business trip. Please choose below." in opened(
        world, ADA, "wfh tomorrow"
    )


@pytest.mark.parametrize("text", ["wfh tomorrow", "wfh", "can i work from home on friday?"])
def test_without_a_type_the_answer_says_who_can_add_one(world: World, text: str) -> None:
    world.command(ADA, text)

    assert world.slack.ephemerals[-1].text == (
        "There's no leave type for home office. An admin can add one in Hiatus's settings, under "
        "“Leave types”: one that doesn't count as away."
    )
    assert not world.slack.has_modal(ADA)


def test_germans_are_answered_in_german(world: World) -> None:
    world.slack.change_person(HEDY, locale="de-DE")

    world.command(HEDY, "homeoffice morgen")

    assert world.slack.ephemerals[-1].text.startswith(
        "Für Homeoffice gibt es keine Abwesenheitsart."
    )


def test_home_office_of_a_colleague_needs_such_a_type_too(world: World) -> None:
    world.command(GRACE, f"<@{ADA}> wfh tomorrow")

    assert "There's no leave type for home office." in world.slack.open_modal(GRACE).visible_text
