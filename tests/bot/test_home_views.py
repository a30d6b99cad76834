"""The Home tab stays within Slack's limits with any user input."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.views import home_tab
from playground.loopback.limits import is_too_large, problems_of_view
from storage.base.calendar_values import Absence
from storage.base.leave_values import LeaveRequest, TimeCredit, TypeName
from storage.base.values import Organisation, field_names
from storage.calendars.absences import MAX_ELSEWHERE
from storage.db.pages import Page
from storage.leave.covers import Covered
from storage.leave.ledgers import YEARS_AHEAD, Balance
from storage.notifications.time_credit_cards import TimeCreditCard
from storage.rules.leave_years import LeaveYear
from storage.workspaces import setup_checklist
from storage.workspaces.home import (
    MAX_AWAY,
    MAX_COVERING,
    MAX_OWN,
    MAX_OWN_CLAIMS,
    MAX_WAITING,
    Home,
    Item,
)
from storage.workspaces.setup_checklist import Checklist, Step
from storage.workspaces.slack_workspaces import PageCursors
from tests.bot.test_calendar_views import charts
from tests.bot.test_views import NOW, REQUEST_ID, absent_colleagues, leave_type, text, user
from tests.builders import an_allowance

CURSOR = "c" * 400
FULL_CHECKLIST = Checklist(
    # A union of literals.
    steps=tuple(step for literal in get_args(Step) for step in get_args(literal)),
    country_code="GB",
    allowance_half_days=50,
    members_join=True,
    without_manager=setup_checklist.MAX_COUNTED,
)


def balance(entitled: int, taken: int, pending: int, lapsing: int = 0) -> Balance:
    """A balance in half-days; the remaining ones are calculated."""
    year = LeaveYear(first_day=date(2026, 1, 1), last_day=date(2026, 12, 31))
    remaining = entitled - taken - pending
    until = date(2026, 6, 30) if lapsing else None
    return Balance(
        user_id="u",
        allowance=an_allowance(),
        on=NOW.date(),
        working_days=(),
        year=year,
        lines=[],
        entitled_half_days=entitled,
        taken_half_days=taken,
        pending_half_days=pending,
        remaining_half_days=remaining,
        lapsing_half_days=lapsing,
        lapsing_after=until,
    )


@st.composite
def items(draw: st.DrawFn) -> Item:
    start = draw(st.dates(date(2024, 1, 1), date(2028, 12, 31)))
    blank: dict[str, Any] = dict.fromkeys(field_names(LeaveRequest))
    request = LeaveRequest(
        **blank
        | {
            "id": REQUEST_ID,
            "status": draw(st.sampled_from(["pending", "approved"])),
            "start_date": start,
            "end_date": start + timedelta(days=draw(st.integers(0, 365))),
            "total_half_days": draw(st.integers(1, 732)),
            "note": draw(st.none() | text(2_000)),
        }
    )
    return Item(
        request=request,
        person_name=draw(text(201)),
        leave_type=leave_type(draw(text(100))),
        colleagues=tuple(draw(st.lists(absent_colleagues(start, start), max_size=2))),
        colleagues_count=draw(st.integers(2, 1_000)),
    )


@st.composite
def absences(draw: st.DrawFn) -> Absence:
    start = NOW.date() + timedelta(days=draw(st.integers(-200, 6)))
    return Absence(
        request_id=REQUEST_ID,
        person_name=draw(text(201)),
        is_own=draw(st.booleans()),
        status="approved",
        start_date=start,
        end_date=start + timedelta(days=365),
        start_half_day=draw(st.sampled_from([None, "am", "pm"])),
        end_half_day=draw(st.sampled_from([None, "am", "pm"])),
        summary_type=draw(st.none() | text(100).map(TypeName)),
        colour=None,
        timezone="Europe/London",
        sequence=1,
        updated_at=NOW,
    )


def elsewhere() -> st.SearchStrategy[list[Absence]]:
    few, most = st.lists(absences(), max_size=2), MAX_ELSEWHERE + 1
    return few | st.lists(absences(), min_size=most, max_size=most)


def a_claim() -> TimeCreditCard:
    """Ada's own claim, which awaits Grace's decision."""
    blank: dict[str, Any] = dict.fromkeys(field_names(TimeCredit))
    claimed = {"id": REQUEST_ID, "status": "pending", "worked_on": NOW.date(), "half_days": 2}
    return TimeCreditCard(
        credit=TimeCredit(**blank | claimed),
        claimer=user("Ada", "Lovelace"),
        viewer=user("Ada", "Lovelace"),
        allowance=an_allowance(),
        expires_on=None,
        decided_by_name=None,
        awaited_names=("Grace Hopper",),
        awaits_viewer=False,
        may_decide=False,
        timezone="Europe/London",
    )


def page_of(item: st.SearchStrategy[Any], most: int) -> st.SearchStrategy[Page[Any]]:
    # Few items or as many as fit: sizes in between test nothing else.
    contents = st.one_of(st.lists(item, max_size=2), st.lists(item, min_size=most, max_size=most))
    return st.builds(Page, items=contents, next_cursor=st.sampled_from([None, CURSOR]))


@st.composite
def homes(draw: st.DrawFn) -> Home:
    blank: dict[str, Any] = dict.fromkeys(field_names(Organisation))
    halves = st.integers(0, 1_000)
    cursors = st.sampled_from([None, CURSOR])
    return Home(
        user=replace(user("Ada", "Lovelace"), role="owner"),
        organisation=Organisation(**blank | {"name": draw(text(200))}),
        today=NOW.date(),
        last_day=NOW.date() + timedelta(days=6),
        balances=[
            balance(draw(st.integers(-400, 1_000)), draw(halves), draw(halves), draw(halves))
            for _ in range(1 + YEARS_AHEAD)
        ],
        own=draw(page_of(items(), MAX_OWN)),
        waiting=draw(page_of(items(), MAX_WAITING)),
        away=draw(page_of(absences(), MAX_AWAY)),
        chart=draw(charts()),
        elsewhere=draw(elsewhere()),
        covering=[],
        cursors=PageCursors(
            own=draw(cursors),
            waiting=draw(cursors),
            away=draw(cursors),
            scope=draw(st.sampled_from(["team", "org"])),
        ),
        checklist=draw(st.none() | st.just(FULL_CHECKLIST)),
    )


@given(homes())
def test_home_keeps_to_slacks_limits(home: Home) -> None:
    view = home_tab.view(home)

    assert problems_of_view(view) == []
    assert not is_too_large(view)


@given(homes(), st.integers(0, 20))
def test_a_members_fullest_home_is_under_forty_blocks(home: Home, pots: int) -> None:
    covered = Covered(
        request_id="lr_1",
        person_name="Grace Hopper",
        start_date=NOW.date(),
        end_date=NOW.date(),
        start_half_day=None,
        end_half_day=None,
    )
    others = [
        replace(balance(50, 10, 4, 6), allowance=replace(an_allowance(), is_default=False))
    ] * pots
    of_member = replace(
        home,
        user=user("Ada", "Lovelace"),
        waiting=Page(items=[], next_cursor=None),
        checklist=None,
        balances=[*home.balances, *others],
        covering=[covered] * (MAX_COVERING + 1),
        own_claims=(a_claim(),) * MAX_OWN_CLAIMS,
        may_report_sick=True,
        may_claim=True,
    )

    blocks = home_tab.view(of_member)["blocks"]
    assert isinstance(blocks, list)
    assert len(blocks) < 40


@given(text(3_000))
def test_users_without_access_get_an_explanation(sentence: str) -> None:
    assert problems_of_view(home_tab.closed(sentence)) == []


@pytest.mark.parametrize(
    ("entitled", "taken", "pending", "expected_bar"),
    [
        (50, 25, 5, "██████████▒▒░░░░░░░░"),
        (50, 0, 0, "░" * 20),
        (50, 50, 0, "█" * 20),
        # Overdrawn: the bar is full.
        (10, 10, 10, "█" * 10 + "▒" * 10),
        (0, 0, 0, ""),
        (-4, 0, 0, ""),
        (-4, 2, 0, "█" * 20),
    ],
)
def test_the_bar_shows_taken_pending_and_remaining_days(
    entitled: int, taken: int, pending: int, expected_bar: str
) -> None:
    assert home_tab.bar(balance(entitled, taken, pending)) == expected_bar


@given(st.integers(-500, 1_000), st.integers(0, 1_000), st.integers(0, 1_000))
def test_the_bar_has_twenty_characters_or_none(entitled: int, taken: int, pending: int) -> None:
    assert len(home_tab.bar(balance(entitled, taken, pending))) in (0, 20)


CURSORS = st.none() | st.text("abcXYZ019_=", min_size=1)


@given(
    st.builds(
        PageCursors,
        own=CURSORS,
        waiting=CURSORS,
        away=CURSORS,
        scope=st.sampled_from([None, "team", "org"]),
    )
)
def test_page_cursors_are_unpacked_as_they_were_packed(cursors: PageCursors) -> None:
    assert PageCursors.unpacked(cursors.packed()) == cursors


@pytest.mark.parametrize("packed", ["", "a", "a b c d e", "- - -"])
def test_unreadable_page_cursors_show_the_first_pages(packed: str) -> None:
    assert PageCursors.unpacked(packed) == PageCursors()
