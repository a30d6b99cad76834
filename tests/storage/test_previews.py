"""Previews, and that submitting a draft has the previewed effects."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.admin import organisation_settings
from storage.base.allowance_values import Amount
from storage.base.errors import DomainError, InsufficientRole, NotFound
from storage.base.leave_values import LeaveRequest
from storage.base.values import User, as_dict
from storage.db.database import Database
from storage.leave import adjustments, decisions, leave_requests, ledgers, previews
from storage.leave.drafts import Draft
from storage.leave.previews import Preview, YearChange
from storage.rules import counted_days
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_leave_type,
    a_person,
    a_request,
    an_organisation,
    caller_for,
    type_id,
)

pytestmark = pytest.mark.shared_database

MONDAY = date(2026, 8, 3)


def a_preview(
    database: Database,
    acme: Acme,
    user: User,
    start_date: date = MONDAY,
    end_date: date | None = None,
    *,
    code: str = "annual",
    by: User | None = None,
    replaces: str | None = None,
    **more: Any,
) -> Preview:
    draft = Draft(
        leave_type_id=type_id(database, acme, code),
        start_date=start_date,
        end_date=end_date or start_date,
        **more,
    )
    return database.read_now(
        previews.preview,
        by=caller_for(acme, by or user),
        draft=draft,
        now=NOW,
        replaces=replaces,
    )


def codes(preview: Preview) -> list[str]:
    return [refusal.code for refusal in preview.refusals]


def test_every_date_has_a_line_with_its_reason(database: Database) -> None:
    acme = an_organisation(database, country_code="GB-ENG")
    ada = a_person(
        database, acme, working_days=["monday", "tuesday", "wednesday", "thursday", "friday:am"]
    )

    # Friday to Tuesday over the weekend and the English bank holiday of 31 August.
    preview = a_preview(database, acme, ada, date(2026, 8, 28), date(2026, 9, 1), end_half_day="am")

    assert [(line.half_days, line.am, line.pm, line.reason) for line in preview.lines] == [
        (1, "counted", "not_worked", "half_worked"),
        (0, "not_worked", "not_worked", "not_worked"),
        (0, "not_worked", "not_worked", "not_worked"),
        (0, "public_holiday", "public_holiday", "public_holiday"),
        (1, "counted", "not_asked", "not_asked"),
    ]
    assert [line.holiday_name for line in preview.lines if line.holiday_name] == [
        "Late Summer Bank Holiday"
    ]
    assert [line.date.day for line in preview.lines] == [28, 29, 30, 31, 1]
    assert (preview.total_half_days, preview.refusals) == (2, [])


def test_a_preview_shows_the_approvers_or_why_there_are_none(database: Database) -> None:
    acme = an_organisation(database)
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)

    preview = a_preview(database, acme, ada)
    sick = a_preview(database, acme, ada, code="sick")

    assert ([user.id for user in preview.approvers], preview.approved_because) == ([grace.id], None)
    assert (sick.approvers, sick.approved_because) == ([], "no_approval_needed")


def test_a_sole_owners_preview_says_that_it_is_approved_at_once(database: Database) -> None:
    acme = an_organisation(database)

    preview = a_preview(database, acme, acme.owner)

    assert (preview.approvers, preview.approved_because) == ([], "nobody_could_approve")


def test_all_broken_rules_are_listed_in_order(database: Database) -> None:
    acme = an_organisation(database, default_leave_allowance_half_days=2)
    ada = a_person(database, acme)
    other = a_request(database, acme, ada)
    strict = a_leave_type(
        database, acme, name="Strict", min_notice_days=90, max_consecutive_days=2,
        requires_note=True,
    )  # fmt: skip

    preview = a_preview(database, acme, ada, MONDAY, date(2026, 8, 7), code=strict.code)

    assert codes(preview) == ["invalid_input", "overlapping_leave", "insufficient_allowance"]
    assert [error.code for error in preview.refusals[0].errors] == [  # type: ignore[attr-defined]
        "too_little_notice",
        "too_many_days",
        "note_required",
    ]
    assert preview.refusals[1].leave_request_id == other.id  # type: ignore[attr-defined]
    assert preview.total_half_days == 10
    assert [half_days_of(change) for change in preview.years] == [(0, 10, -10)]


@pytest.mark.parametrize(
    ("start", "end", "more", "code"),
    [
        (date(2026, 8, 5), date(2026, 8, 3), {}, "end_before_start"),
        (date(2026, 8, 3), date(2027, 9, 3), {}, "too_long"),
        (date(9999, 12, 31), date(9999, 12, 31), {}, "out_of_reach"),
        (MONDAY, MONDAY, {"start_half_day": "pm", "end_half_day": "am"}, "impossible_half_days"),
    ],
)
def test_impossible_dates_are_not_counted(
    database: Database, start: date, end: date, more: dict[str, Any], code: str
) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)

    preview = a_preview(database, acme, ada, start, end, **more)

    assert codes(preview) == [code]
    assert (preview.leave_type, preview.lines, preview.years, preview.total_half_days) == (
        None,
        [],
        [],
        0,
    )


def test_a_preview_lists_the_colleagues_of_the_team_calendar(database: Database) -> None:
    acme = an_organisation(database)
    head = a_person(database, acme, first_name="Head")
    team = a_department(database, acme, manager_id=head.id)
    ada = a_person(database, acme, department_id=team.id)
    alan = a_person(database, acme, first_name="Alan", department_id=team.id)
    report = a_person(database, acme, first_name="Report", manager_id=ada.id)
    hedy = a_person(database, acme, first_name="Hedy")
    for person, code in ((head, "annual"), (alan, "sick"), (report, "annual"), (hedy, "sick")):
        request = a_request(database, acme, person, code=code)
        if request.status == "pending":
            acme.write(decisions.approve, request.id)
    a_request(database, acme, alan, start_date=date(2026, 8, 4))

    preview = a_preview(database, acme, ada, MONDAY, date(2026, 8, 7))

    assert [
        (colleague.name.split()[0], colleague.type_name) for colleague in preview.colleagues
    ] == [
        ("Head", "Annual leave"),
        ("Alan", None),
        ("Report", "Annual leave"),
    ]
    assert preview.colleagues_count == 3
    assert preview.pending_colleagues_count == 1


def test_a_colleague_who_is_off_in_the_other_half_is_not_listed(database: Database) -> None:
    acme = an_organisation(database)
    team = a_department(database, acme)
    ada = a_person(database, acme, department_id=team.id)
    alan = a_person(database, acme, first_name="Alan", department_id=team.id)
    a_request(database, acme, alan, start_half_day="am", code="sick")

    assert a_preview(database, acme, ada, start_half_day="pm").colleagues_count == 0
    assert a_preview(database, acme, ada).colleagues_count == 1


def test_at_most_ten_colleagues_are_listed_and_all_are_counted(database: Database) -> None:
    acme = an_organisation(database)
    team = a_department(database, acme)
    ada = a_person(database, acme, department_id=team.id)
    for number in range(12):
        alan = a_person(database, acme, first_name=f"Alan{number}", department_id=team.id)
        a_request(database, acme, alan, code="sick")

    preview = a_preview(database, acme, ada)

    assert (len(preview.colleagues), preview.colleagues_count) == (10, 12)


def test_a_declined_request_cannot_be_replaced_and_keeps_its_type(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    request = a_request(database, acme, ada)
    acme.write(decisions.decline, request.id, reason=None)

    preview = a_preview(database, acme, ada, code="sick", replaces=request.id)

    assert codes(preview) == ["invalid_transition", "read_only"]


def test_only_admins_preview_edits_of_other_peoples_requests(database: Database) -> None:
    acme = an_organisation(database)
    grace = a_person(database, acme, first_name="Grace")
    ada = a_person(database, acme, manager_id=grace.id)
    hedy = a_person(database, acme, first_name="Hedy")
    request = a_request(database, acme, ada)

    assert a_preview(database, acme, ada, by=acme.owner, replaces=request.id).user.id == ada.id
    with pytest.raises(InsufficientRole):
        a_preview(database, acme, ada, by=grace, replaces=request.id)
    with pytest.raises(NotFound):
        a_preview(database, acme, ada, by=hedy, replaces=request.id)


def explained(database: Database, acme: Acme, request: LeaveRequest) -> list[Any]:
    explained = acme.read(previews.explain, request.id, now=NOW)
    assert sum(line.half_days for line in explained.lines) == explained.request.total_half_days
    return [(line.half_days, line.am, line.reason, line.has_changed) for line in explained.lines]


def test_a_stored_count_is_kept_and_marked_where_it_would_differ_today(
    database: Database, acme: Acme, ada: User
) -> None:
    # Friday and Saturday, long past: they keep their count.
    request = a_request(database, acme, ada, start_date=date(2026, 5, 8), end_date=date(2026, 5, 9))
    counted = (2, "counted", None, False)
    assert explained(database, acme, request) == [
        counted,
        (0, "not_worked", "not_worked", False),
    ]

    worked = {"working_days": ["monday", "saturday"]}
    acme.write(organisation_settings.update, worked)

    assert explained(database, acme, request) == [
        (2, "counted", None, True),
        (0, "not_counted", "changed_since", True),
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A random organisation, person, past and draft."""

    settings: dict[str, Any]
    person: dict[str, Any]
    adjusted: list[tuple[int, int]]
    booked: list[tuple[str, date, date]]
    draft: tuple[str, date, int, Any, Any]
    is_edit: bool


ENTRIES = [f"{day}{half}" for day in counted_days.WEEKDAYS for half in ("", ":am", ":pm")]
patterns = st.lists(
    st.sampled_from(ENTRIES), min_size=1, max_size=7, unique_by=lambda entry: entry.split(":")[0]
)
near = st.dates(date(2026, 9, 1), date(2027, 4, 30))
half_days = st.sampled_from([None, "am", "pm"])
codes_of_types = st.sampled_from(["annual", "annual", "sick", "flexible"])


def _without_month_of_anniversaries(settings: dict[str, Any]) -> dict[str, Any]:
    is_refused = settings["leave_year_type"] == "anniversary"
    return settings | ({"carry_over_expiry_month": None} if is_refused else {})


cases = st.builds(
    Case,
    settings=st.fixed_dictionaries(
        {
            "country_code": st.sampled_from(["GB", "GB-ENG", "DE-BY", "US"]),
            "working_days": patterns,
            "leave_year_type": st.sampled_from(["calendar", "fiscal", "anniversary"]),
            "leave_year_start_month": st.sampled_from([1, 4, 10]),
            "default_leave_allowance_half_days": st.integers(0, 40),
            "carry_over_half_days": st.sampled_from([0, 4, 20]),
            "carry_over_expiry_month": st.none() | st.integers(1, 12),
        }
    ).map(_without_month_of_anniversaries),
    person=st.fixed_dictionaries(
        {
            "start_date": st.none() | st.sampled_from([date(2024, 2, 29), date(2026, 10, 15)]),
            "working_days": st.none() | patterns,
            "leave_allowance_half_days": st.none() | st.integers(0, 60),
        }
    ),
    adjusted=st.lists(
        st.tuples(st.sampled_from([2026, 2027]), st.sampled_from([-4, 3])), max_size=2
    ),
    booked=st.lists(
        st.tuples(codes_of_types, near, st.integers(0, 10)).map(
            lambda leave: (leave[0], leave[1], leave[1] + timedelta(days=leave[2]))
        ),
        max_size=4,
    ),
    draft=st.tuples(codes_of_types, near, st.integers(-1, 25), half_days, half_days),
    is_edit=st.booleans(),
)


def remaining(database: Database, acme: Acme, user: User, days_of: list[date]) -> list[Amount]:
    remaining = []
    for day in days_of:
        balance = acme.read(ledgers.balance, user.id, on=day, now=NOW)
        assert sum(line.half_days for line in balance.lines) == balance.remaining_half_days
        remaining.append(balance.remaining_half_days)
    return remaining


def prepared(database: Database, case: Case) -> tuple[Acme, User, LeaveRequest | None]:
    acme = an_organisation(database, **case.settings)
    a_leave_type(database, acme, name="Flexible", allow_overdraft=True)
    ada = a_person(database, acme, **case.person)
    for leave_year, half_days in case.adjusted:
        acme.write(
            adjustments.add, ada.id, half_days=half_days, reason="Random", leave_year=leave_year
        )
    replaced = None
    for code, start, end in case.booked:
        try:
            leave_request = a_request(
                database, acme, ada, start_date=start, end_date=end, code=code
            )
        except DomainError:
            continue
        if case.is_edit and leave_request.status == "pending":
            replaced = leave_request
    return acme, ada, replaced


def half_days_of(change: YearChange) -> tuple[Amount, int, Amount]:
    """What remains of the leave year before, the deduction, and what remains after."""
    return change.before_half_days, change.half_days, change.after_half_days


def tried(
    database: Database, acme: Acme, user: User, draft: Draft, replaced: LeaveRequest | None
) -> LeaveRequest | DomainError:
    """Submit the draft, or edit the request to it."""
    by = caller_for(acme, user)
    changes = as_dict(draft)
    del changes["leave_type_id"]
    try:
        if replaced is None:
            return database.write_now(leave_requests.submit, by=by, draft=draft, now=NOW)
        return database.write_now(leave_requests.edit, replaced.id, changes, by=by, now=NOW)
    except DomainError as refusal:
        return refusal


@settings(
    max_examples=25,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(case=cases)
def test_a_preview_equals_the_submitted_request(database: Database, case: Case) -> None:
    acme, ada, replaced = prepared(database, case)
    code, start, length, start_half, end_half = case.draft
    end = start + timedelta(days=length)
    by = caller_for(acme, ada)
    leave_type_id = type_id(database, acme, code)
    if replaced is not None:
        leave_type_id = replaced.leave_type_id
    draft = Draft(
        leave_type_id=leave_type_id,
        start_date=start,
        end_date=end,
        start_half_day=start_half,
        end_half_day=end_half,
    )

    preview = database.read_now(
        previews.preview,
        by=by,
        draft=draft,
        now=NOW,
        replaces=None if replaced is None else replaced.id,
    )
    on = [min(end, change.year.last_day) for change in preview.years]
    before = remaining(database, acme, ada, on)
    assert before == [change.before_half_days for change in preview.years]

    outcome = tried(database, acme, ada, draft, replaced)
    if isinstance(outcome, DomainError):
        first = preview.refusals[0]
        assert (outcome.code, outcome.detail) == (first.code, first.detail)
        assert remaining(database, acme, ada, on) == before
        return

    request = outcome
    assert preview.refusals == []
    assert (request.status == "approved") == (preview.approved_because is not None)
    assert request.total_half_days == preview.total_half_days
    assert [line.half_days for line in preview.lines] == [
        counted_days.total_half_days(half) for half in request.counted_halves
    ]
    after = remaining(database, acme, ada, on)
    assert after == [change.after_half_days for change in preview.years]
    database.write_now(leave_requests.cancel, request.id, by=by, now=NOW)
    if replaced is None:
        assert remaining(database, acme, ada, on) == before
