"""Views stay within Slack's limits and inject no markup, with any user input."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.blocks import layout, words
from bot.message_views import answers, approver_messages, cards, requester_messages
from bot.message_views.answers import Away, OwnLeave
from bot.parsing import typed_phrases
from bot.parsing.typed_leave import ParsedLeave
from bot.parsing.typed_terms import Problem, ProblemKind
from bot.views import decline, live_line, request_form, typed_problems
from bot.views.request_values import WHOLE, WITH_ALERT, Alerts, Filled
from playground.loopback.blocks import buttons
from playground.loopback.limits import is_too_large, problems_of_message, problems_of_view
from storage.base.calendar_values import Absence
from storage.base.event_values import EVENT_TYPES
from storage.base.leave_values import (
    AMENDMENT_STATUSES,
    LEAVE_STATUSES,
    Amendment,
    LeaveRequest,
    LeaveStatus,
    LeaveType,
    TypeName,
)
from storage.base.values import User, field_names
from storage.db.pages import Page
from storage.leave.decisions import MAX_REASON_LENGTH
from storage.leave.drafts import MAX_NOTE_LENGTH
from storage.leave.leave_balances import YearBalance
from storage.leave.previews import Preview, YearChange
from storage.notifications.approval_cards import ApprovalCard, CardAmendment
from storage.people.colleagues import ColleagueOff
from storage.rules.counted_days import DayLine
from storage.rules.free_days import Bridge
from storage.rules.leave_years import LeaveYear

NOW = datetime(2026, 6, 1, 9, tzinfo=UTC)
EMPTY = Filled(leave_type_id=None, start_date=None, end_date=None)
REQUEST_ID = "01970000-0000-7000-8000-000000000001"
HOME_URL = "slack://app?team=T0123456789&id=A0123456789&tab=home"

HOSTILE = st.sampled_from(
    ["<!channel>", "<@U1>", "&amp;", "*_~`", "<https://x|y>", ">" * 200, "&" * 200, "😀" * 200]
)


def text(longest: int, least: int = 1) -> st.SearchStrategy[str]:
    typed = st.text(min_size=least, max_size=longest)
    filled = st.sampled_from("&<>*a😀").map(lambda character: character * longest)
    return st.one_of(typed, HOSTILE.map(lambda hostile: hostile[:longest]), filled)


def user(first_name: str, last_name: str) -> User:
    blank: dict[str, Any] = dict.fromkeys(field_names(User))
    return User(**blank | {"first_name": first_name, "last_name": last_name})


def leave_type(name: str, emoji: str | None = None, number: int = 0) -> LeaveType:
    blank: dict[str, Any] = dict.fromkeys(field_names(LeaveType))
    return LeaveType(
        **blank
        | {"id": f"{REQUEST_ID[:-4]}{number:04}", "name": name, "emoji": emoji}
        | {"is_archived": False, "names": {}}
    )


def a_leave_request(status: LeaveStatus) -> LeaveRequest:
    blank: dict[str, Any] = dict.fromkeys(field_names(LeaveRequest))
    return LeaveRequest(
        **blank | {"id": REQUEST_ID, "leave_type_id": f"{REQUEST_ID[:-4]}0000", "status": status}
    )


@st.composite
def card_amendments(draw: st.DrawFn, start: date) -> CardAmendment:
    """Open and ended amendments of leave that begins on a day."""
    status = draw(st.sampled_from(AMENDMENT_STATUSES))
    halves: Any = st.sampled_from([None, "am", "pm"])
    amendment = Amendment(
        id=REQUEST_ID,
        leave_request_id=REQUEST_ID,
        leave_type_id="t",
        start_date=start,
        end_date=start + timedelta(days=draw(st.integers(0, 365))),
        start_half_day=draw(halves),
        end_half_day=draw(halves),
        note=draw(st.none() | text(MAX_NOTE_LENGTH)),
        status=status,
        requested_by="u",
        requested_at=NOW,
        decided_at=None if status == "open" else NOW,
        decision_reason=draw(st.none() | text(MAX_REASON_LENGTH)) if status == "declined" else None,
    )
    return CardAmendment(
        amendment=amendment,
        leave_type=leave_type(draw(text(200)), number=draw(st.integers(0, 1))),
        counted_halves="3",
        total_half_days=draw(st.integers(1, 732)),
        ended_by_name=draw(st.none() | text(200)),
    )


def absent_colleagues(start: date, end: date) -> st.SearchStrategy[ColleagueOff]:
    halves: Any = st.sampled_from([None, "am", "pm"])
    return st.builds(
        ColleagueOff,
        name=text(200),
        start_date=st.just(start),
        end_date=st.just(end),
        start_half_day=halves,
        end_half_day=halves,
        type_name=st.none() | text(200).map(TypeName),
        is_pending=st.booleans(),
    )


@st.composite
def approval_cards(draw: st.DrawFn) -> ApprovalCard:
    status = draw(st.sampled_from(LEAVE_STATUSES))
    start = draw(st.dates(date(2024, 1, 1), date(2028, 12, 31)))
    end = start + timedelta(days=draw(st.integers(0, 365)))
    halves: Any = st.sampled_from([None, "am", "pm"])
    request = LeaveRequest(
        id=REQUEST_ID,
        user_id="u",
        leave_type_id="t",
        status=status,
        start_date=start,
        end_date=end,
        start_half_day=draw(halves),
        end_half_day=draw(halves),
        total_half_days=draw(st.integers(1, 732)),
        counted_halves="3",
        note=draw(st.none() | text(MAX_NOTE_LENGTH)),
        decided_by=None,
        decided_at=NOW,
        decision_reason=draw(st.none() | text(MAX_REASON_LENGTH)),
        cancelled_at=NOW,
        created_at=NOW,
        updated_at=NOW,
        version=draw(st.integers(1, 3)),
    )
    name = text(200)
    amendment = draw(st.none() | card_amendments(start)) if status == "approved" else None
    is_undecided = status == "pending" or (amendment is not None and amendment.is_open)
    year = st.builds(
        YearBalance,
        year_name=st.just("2026/27"),
        before_half_days=st.integers(-732, 732),
        remaining_half_days=st.integers(-732, 732),
        allowance_name=st.none() | text(200),
    )
    return ApprovalCard(
        request=request,
        requester=user(draw(name), draw(name)),
        viewer=user("Grace", "Hopper"),
        leave_type=leave_type(draw(name)),
        decided_by_name=draw(st.none() | name),
        awaited_names=tuple(draw(st.lists(name, max_size=50))),
        awaits_viewer=draw(st.booleans()),
        may_decide=is_undecided and draw(st.booleans()),
        may_reverse=status in ("approved", "declined") and draw(st.booleans()),
        balances=tuple(draw(st.lists(year, max_size=3))),
        colleagues=tuple(draw(st.lists(absent_colleagues(start, end), max_size=10))),
        colleagues_count=draw(st.integers(0, 1_000)),
        timezone="Europe/London",
        amendment=amendment,
    )


@given(approval_cards())
def test_cards_are_within_limits_and_harmless(card: ApprovalCard) -> None:
    message = cards.message(card, HOME_URL)

    assert problems_of_message(message["text"], message["blocks"]) == []
    assert len(message["text"]) <= 4_000
    assert is_harmless(message)
    assert bool(buttons(message["blocks"])) == (card.may_decide or card.may_reverse)


@given(approval_cards(), st.sampled_from(EVENT_TYPES))
def test_messages_to_requesters_are_within_limits_and_harmless(
    card: ApprovalCard, event_type: Any
) -> None:
    message = requester_messages.notification(card, event_type)

    if message is not None:
        assert problems_of_message(message["text"], message["blocks"]) == []
        assert len(message["text"]) <= 4_000
        assert is_harmless(message)
    for other in (
        requester_messages.own_request(card),
        requester_messages.reply(card, event_type),
        approver_messages.reminder(card, HOME_URL),
        approver_messages.reply(card, event_type),
    ):
        if other is not None:
            assert problems_of_message(other["text"], other.get("blocks") or []) == []
            assert is_harmless(other)


@given(approval_cards())
def test_the_decline_form_is_within_limits_and_harmless(card: ApprovalCard) -> None:
    view, other = decline.view(card, "kept"), decline.reversal(card, "kept")

    assert problems_of_view(view) == problems_of_view(other) == []
    assert is_harmless(view)
    assert is_harmless(other)
    assert view["private_metadata"] == other["private_metadata"] == "kept"


@st.composite
def previews_of_leave(draw: st.DrawFn) -> Preview:
    start = draw(st.dates(date(2024, 1, 1), date(2028, 12, 31)))
    reasons: Any = st.sampled_from(
        [None, "not_asked", "not_worked", "half_worked", "public_holiday", "changed_since"]
    )
    lines = [
        DayLine(
            date=start + timedelta(days=day),
            half_days=2,
            am="counted",
            pm="counted",
            reason=reason,
            holiday_name=holiday,
            has_changed=False,
        )
        for day, (reason, holiday) in enumerate(
            draw(st.lists(st.tuples(reasons, st.none() | text(300)), min_size=1, max_size=366))
        )
    ]
    name = text(200)
    off: Any = st.builds(
        ColleagueOff,
        name=name,
        start_date=st.just(start),
        end_date=st.just(start),
        start_half_day=st.none(),
        end_half_day=st.none(),
        type_name=st.none() | name.map(TypeName),
        is_pending=st.booleans(),
    )
    change = YearChange(
        allowance_id=REQUEST_ID,
        allowance_name=draw(st.none() | name),
        year=LeaveYear(first_day=start, last_day=start),
        before_half_days=0,
        half_days=0,
        after_half_days=draw(st.integers(-732, 732)),
    )
    shown = draw(st.lists(off, max_size=10))
    return Preview(
        user=user("Ada", "Lovelace"),
        leave_type=replace(leave_type(draw(name)), deducts_allowance=draw(st.booleans())),
        lines=lines,
        total_half_days=draw(st.integers(0, 732)),
        years=[change] * draw(st.integers(0, 3)),
        approvers=draw(st.lists(st.builds(user, name, name), max_size=50)),
        approved_because=draw(
            st.sampled_from([None, "no_approval_needed", "nobody_could_approve"])
        ),
        unreachable=draw(st.lists(st.builds(user, name, name), max_size=5)),
        colleagues=shown,
        colleagues_count=len(shown) + draw(st.integers(0, 990)),
        pending_colleagues_count=draw(st.integers(0, 990)),
        refusals=[],
        warnings=[],
        bridge=draw(st.none() | st.just(Bridge(day=start, holiday=start, days_off=4))),
    )


@given(
    previews_of_leave(),
    st.dictionaries(
        st.sampled_from((WHOLE, *WITH_ALERT)), st.lists(text(600), min_size=1, max_size=8)
    ),
    st.lists(
        st.builds(
            Problem,
            kind=st.sampled_from(get_args(ProblemKind)),
            typed=text(200),
            choices=st.lists(text(200), max_size=10).map(tuple),
        ),
        max_size=60,
    ),
    st.none() | text(MAX_NOTE_LENGTH),
    st.none() | st.sampled_from(["pending", "approved"]),
)
def test_the_live_line_is_within_limits_and_harmless(
    preview: Preview,
    refusals: dict[str, list[str]],
    problems: list[Problem],
    note: str | None,
    edited: Any,
) -> None:
    filled = Filled(
        leave_type_id=REQUEST_ID,
        start_date=date(2026, 6, 1),
        end_date=None,
        begins_at_midday=True,
        ends_at_midday=False,
        note=note,
    )
    view = request_form.view(
        [leave_type("&" * 200)],
        filled,
        live_line.blocks(preview, ["x" * 600] * 3, can_send=not refusals),
        typed_problems.asides(ParsedLeave(problems=tuple(problems))),
        alerts=Alerts(problems=refusals),
        edited=edited and a_leave_request(edited),
    )

    assert problems_of_view(view) == []
    assert is_harmless(view)


def a_page(items: list[Any], has_more: bool) -> Page[Any]:
    return Page(items=items, next_cursor="cursor" if has_more else None)


@given(approval_cards(), st.integers(0, 20), st.booleans(), text(200))
def test_lists_of_leave_are_within_limits_and_harmless(
    card: ApprovalCard, number: int, has_more: bool, type_name: str
) -> None:
    kind = leave_type(type_name)
    request = replace(card.request, status="approved", leave_type_id=kind.id)
    own = OwnLeave(
        page=a_page([request] * number, has_more),
        leave_types={kind.id: kind},
        cancel_effects={request.id: "amendment"},
    )
    absence = Absence(
        request_id="id",
        person_name=card.requester.name,
        is_own=False,
        status="approved",
        start_date=request.start_date,
        end_date=request.end_date,
        start_half_day="pm",
        end_half_day="am",
        summary_type=TypeName(type_name),
        colour=None,
        timezone="Europe/London",
        sequence=1,
        updated_at=NOW,
    )
    team = a_page([absence] * number, has_more)
    others = a_page([replace(absence, request_id="other")] * number, has_more)

    for message in (
        answers.own_leave(own),
        answers.own_leave_to_cancel(own, "Cancelled."),
        answers.out(
            Away(
                today=NOW.date(),
                first_day=request.start_date,
                last_day=request.end_date,
                team=team,
                everyone=others,
            )
        ),
    ):
        assert problems_of_message(message["text"], message.get("blocks") or []) == []
        assert 0 < len(message["text"]) <= 4_000
        assert is_harmless(message)


@pytest.mark.parametrize("number", [1, 2, 100, 101, 1_500])
def test_any_number_of_types_fits_into_the_form(number: int) -> None:
    types = [
        leave_type(f"Type {index} " + "x" * 180, "palm_tree", index) for index in range(number)
    ]

    view = request_form.view(types, EMPTY, live_line.blocks(None))

    assert problems_of_view(view) == []
    assert not is_too_large(view)


@given(text(4_000, least=0))
def test_typed_words_are_repeated_without_markup(typed: str) -> None:
    filled = Filled(
        leave_type_id=None,
        start_date=date(2026, 8, 3),
        end_date=date(2026, 8, 3),
        note=typed[: typed_phrases.MAX_LENGTH] or None,
    )
    reading = typed_problems.Reading(filled=filled, type_name=typed)
    for message in (
        typed_problems.not_understood("/timeoff", typed, reading),
        typed_problems.offer(reading),
        typed_problems.no_answer("/timeoff", typed),
    ):
        assert is_harmless(message)
        assert problems_of_message(message["text"], message.get("blocks") or []) == []
    assert problems_of_view(layout.notice("A title that is far too long for Slack", typed)) == []


@pytest.mark.parametrize(
    ("start", "end", "halves", "expected"),
    [
        ("2026-08-03", "2026-08-03", (None, None), "Mon 3 Aug 2026"),
        ("2026-08-03", "2026-08-03", ("am", None), "Mon 3 Aug 2026, morning"),
        ("2026-08-03", "2026-08-03", ("am", "am"), "Mon 3 Aug 2026, morning"),
        ("2026-08-03", "2026-08-03", (None, "am"), "Mon 3 Aug 2026, morning"),
        ("2026-08-03", "2026-08-03", ("pm", None), "Mon 3 Aug 2026, afternoon"),
        ("2026-08-03", "2026-08-03", (None, "pm"), "Mon 3 Aug 2026, afternoon"),
        ("2026-08-03", "2026-08-03", ("pm", "pm"), "Mon 3 Aug 2026, afternoon"),
        ("2026-08-03", "2026-08-03", ("am", "pm"), "Mon 3 Aug 2026"),
        (
            "2026-08-03",
            "2026-08-04",
            ("am", "pm"),
            "Mon 3 to Tue 4 Aug 2026",
        ),
        (
            "2026-12-31",
            "2027-01-01",
            ("pm", "am"),
            "Thu 31 Dec 2026 from midday to Fri 1 Jan 2027 until midday",
        ),
    ],
)
def test_dates_are_written_in_words(start: str, end: str, halves: Any, expected: str) -> None:
    assert words.span(date.fromisoformat(start), date.fromisoformat(end), *halves) == expected


def test_amounts_moments_and_names_are_written_in_words() -> None:
    assert [words.amount(halves) for halves in (1, 2, 3, 5, 20)] == [
        "half a day",
        "1 day",
        "1.5 days",
        "2.5 days",
        "10 days",
    ]
    assert words.moment(NOW, "Asia/Tokyo") == "1 Jun 2026, 18:00"
    assert [words.names(list("ABCDEFG"[:number])) for number in (0, 1, 2, 3, 7)] == [
        "",
        "A",
        "A and B",
        "A, B and C",
        "A, B, C, D, E and 2 more",
    ]


def is_harmless(message: Any) -> bool:
    """Whether users' text is escaped in all mrkdwn, so that it cannot be markup."""
    marked = re.findall(r'\{"type": "mrkdwn", "text": ("(?:[^"\\]|\\.)*")', json.dumps(message))
    texts = [json.loads(string) for string in marked] + [message.get("text", "")]
    return not any(
        "<" in string or ">" in string or re.search(r"&(?!amp;|lt;|gt;)", string)
        for string in texts
    )
