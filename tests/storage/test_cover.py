"""The colleague who covers for a person on leave."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import pytest

from storage.admin import people, people_status
from storage.base.leave_values import LeaveRequest
from storage.base.values import User
from storage.db.database import Database
from storage.leave import covers, decisions, leave_requests, previews
from storage.leave.drafts import Draft
from storage.people import people_changes
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_leave_type,
    a_person,
    a_request,
    an_organisation,
    as_it_is,
    audit_entries,
    caller_for,
    dry_run,
    type_id,
)
from tests.refusals import errors_of, overlapping

pytestmark = pytest.mark.shared_database

MONDAY, TUESDAY, WEDNESDAY = date(2026, 8, 3), date(2026, 8, 4), date(2026, 8, 5)
FRIDAY = date(2026, 8, 7)
LATER = NOW + timedelta(hours=1)


def grace_of(database: Database, acme: Acme, **fields: Any) -> User:
    return a_person(database, acme, first_name="Grace", last_name="Hopper", **fields)


def approve(database: Database, acme: Acme, request: LeaveRequest) -> LeaveRequest:
    return acme.write(decisions.approve, request.id)


def edit(
    database: Database, acme: Acme, user: User, request: LeaveRequest, **changes: Any
) -> LeaveRequest:
    by = caller_for(acme, user)
    return database.write_now(leave_requests.edit, request.id, changes, by=by, now=LATER)


def warnings(
    database: Database, acme: Acme, user: User, cover: User, first_day: date, last_day: date
) -> list[str]:
    draft = Draft(
        leave_type_id=type_id(database, acme),
        start_date=first_day,
        end_date=last_day,
        cover_user_id=cover.id,
    )
    preview = database.read_now(previews.preview, by=caller_for(acme, user), draft=draft, now=NOW)
    assert preview.refusals == []
    assert {(warning.pointer, warning.code) for warning in preview.warnings} <= {
        ("/cover_user_id", "cover_away")
    }
    return [warning.detail for warning in preview.warnings]


def test_a_cover_is_stored_changed_and_cleared(database: Database, acme: Acme) -> None:
    ada, grace = a_person(database, acme), grace_of(database, acme)
    hedy = a_person(database, acme, first_name="Hedy", last_name="Lamarr")

    request = a_request(database, acme, ada, cover_user_id=grace.id)
    assert as_it_is(database, acme, request).cover_user_id == grace.id

    changed = edit(database, acme, ada, request, cover_user_id=hedy.id)
    assert (changed.cover_user_id, changed.version) == (hedy.id, 2)
    assert edit(database, acme, ada, request, note="Wedding").cover_user_id == hedy.id
    assert edit(database, acme, ada, request, cover_user_id=None).cover_user_id is None

    entries = audit_entries(database, acme.caller, subject_id=request.id)
    assert [
        (entry.changes["cover_user_id"]["before"], entry.changes["cover_user_id"]["after"])
        for entry in reversed(entries)
        if "cover_user_id" in entry.changes
    ] == [(None, grace.id), (grace.id, hedy.id), (hedy.id, None)]


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ("archived", "cover_archived"),
        ("deactivated", "cover_inactive"),
        ("pending", "cover_inactive"),
    ],
)
def test_only_active_colleagues_can_cover(database: Database, status: Any, code: str) -> None:
    acme = an_organisation(database)
    ada, grace = a_person(database, acme), grace_of(database, acme, status=status)

    assert errors_of(lambda: a_request(database, acme, ada, cover_user_id=grace.id)) == [
        ("/cover_user_id", code)
    ]


def test_a_pending_colleague_with_a_slack_account_can_cover(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    unlinked = grace_of(database, acme, status="pending")
    grace = acme.write(
        people_changes.save,
        unlinked,
        replace(unlinked, slack_user_id="UGRACE"),
        "user.linked_to_slack",
    )

    assert a_request(database, acme, ada, cover_user_id=grace.id).cover_user_id == grace.id


def test_neither_oneself_nor_people_elsewhere_can_cover(database: Database) -> None:
    acme, other = an_organisation(database), an_organisation(database, name="Other")
    ada, stranger = a_person(database, acme), a_person(database, other)

    for cover_user_id, code in ((ada.id, "cover_is_requester"), (stranger.id, "not_found")):
        assert errors_of(
            lambda cover_user_id=cover_user_id: a_request(  # type: ignore[misc]
                database, acme, ada, cover_user_id=cover_user_id
            )
        ) == [("/cover_user_id", code)]


def test_a_stored_cover_who_was_deactivated_prevents_no_other_change(database: Database) -> None:
    acme = an_organisation(database)
    ada, grace = a_person(database, acme), grace_of(database, acme)
    request = a_request(database, acme, ada, cover_user_id=grace.id)
    acme.write(people_status.deactivate, grace.id)

    assert edit(database, acme, ada, request, note="Wedding").cover_user_id == grace.id

    edit(database, acme, ada, request, cover_user_id=None)
    assert errors_of(lambda: edit(database, acme, ada, request, cover_user_id=grace.id)) == [
        ("/cover_user_id", "cover_inactive")
    ]


@pytest.mark.parametrize("requires_approval", [True, False])
def test_a_type_can_require_a_cover(database: Database, *, requires_approval: bool) -> None:
    acme = an_organisation(database)
    ada, grace = a_person(database, acme), grace_of(database, acme)
    study = a_leave_type(
        database, acme, code="study", requires_approval=requires_approval, requires_cover=True
    )
    assert study.requires_cover

    assert errors_of(lambda: a_request(database, acme, ada, code="study")) == [
        ("/cover_user_id", "cover_required")
    ]
    request = a_request(database, acme, ada, code="study", cover_user_id=grace.id)
    if requires_approval:
        assert errors_of(lambda: edit(database, acme, ada, request, cover_user_id=None)) == [
            ("/cover_user_id", "cover_required")
        ]


def test_a_preview_warns_of_days_on_which_the_cover_is_off(database: Database) -> None:
    acme = an_organisation(database, country_code="GB-ENG")
    ada = a_person(database, acme)
    grace = grace_of(
        database, acme, working_days=["monday", "tuesday", "wednesday", "thursday", "friday:am"]
    )
    # Her Tuesday afternoon; the request of Wednesday is pending, which is never shown to others.
    approve(
        database, acme, a_request(database, acme, grace, start_date=TUESDAY, start_half_day="pm")
    )
    a_request(database, acme, grace, start_date=WEDNESDAY)

    assert warnings(database, acme, ada, grace, MONDAY, date(2026, 8, 9)) == [
        "Grace Hopper is off on 2026-08-04, 2026-08-07."
    ]
    assert warnings(database, acme, ada, grace, WEDNESDAY, WEDNESDAY) == []


def test_halves_on_which_no_cover_is_needed_give_no_warning(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, working_days=["monday", "tuesday:am"])
    grace = grace_of(database, acme)
    approve(
        database, acme, a_request(database, acme, grace, start_date=TUESDAY, start_half_day="pm")
    )
    approve(database, acme, a_request(database, acme, grace, start_date=WEDNESDAY, end_date=FRIDAY))

    assert warnings(database, acme, ada, grace, MONDAY, FRIDAY) == []


def test_a_warning_names_spans_of_days(database: Database, acme: Acme) -> None:
    ada, grace = a_person(database, acme), grace_of(database, acme)
    away = a_request(database, acme, grace, start_date=MONDAY, end_date=date(2026, 8, 21))
    approve(database, acme, away)

    (detail,) = warnings(database, acme, ada, grace, MONDAY, date(2026, 8, 21))

    assert detail == (
        "Grace Hopper is off on 2026-08-03 to 2026-08-07, 2026-08-10 to 2026-08-14, "
        "2026-08-17 to 2026-08-21."
    )


def test_the_team_is_offered_with_those_who_are_there_first(database: Database, acme: Acme) -> None:
    team, other = a_department(database, acme), a_department(database, acme, name="Sales")
    ada = a_person(database, acme, department_id=team.id)
    grace = grace_of(database, acme, department_id=team.id)
    hedy = a_person(database, acme, first_name="Hedy", department_id=team.id)
    a_person(database, acme, first_name="Iris", department_id=team.id, status="deactivated")
    joan = a_person(database, acme, first_name="Joan", department_id=other.id)
    approve(database, acme, a_request(database, acme, grace, start_date=TUESDAY))

    def offered(typed: str, *days: date | None) -> tuple[list[str], list[str]]:
        candidates = database.read_now(
            covers.candidates, typed, ada.id, *days, by=caller_for(acme, ada)
        )
        return [user.id for user in candidates.there], [user.id for user in candidates.off]

    assert offered("", MONDAY, FRIDAY) == ([hedy.id], [grace.id])
    assert offered("", FRIDAY, FRIDAY) == ([grace.id, hedy.id], [])
    assert offered("", None, None) == ([grace.id, hedy.id], [])
    assert offered("joan", MONDAY, FRIDAY) == ([joan.id], [])
    assert offered("ada", MONDAY, FRIDAY) == ([], [])


def test_archiving_a_cover_clears_pending_and_future_leave(database: Database, acme: Acme) -> None:
    ada, grace = a_person(database, acme), grace_of(database, acme)
    hedy = a_person(database, acme, first_name="Hedy")
    last_month = date(2026, 5, 5)
    past = approve(
        database,
        acme,
        a_request(database, acme, ada, start_date=last_month, cover_user_id=grace.id),
    )
    pending = a_request(database, acme, ada, start_date=MONDAY, cover_user_id=grace.id)
    approved = approve(
        database, acme, a_request(database, acme, hedy, start_date=FRIDAY, cover_user_id=grace.id)
    )

    effects = dry_run(database, people_status.archive, grace.id, by=acme.caller, now=LATER)
    assert (effects.uncovered, effects.affects_others) == (2, True)
    assert as_it_is(database, acme, pending).cover_user_id == grace.id
    acme.write(people_status.archive, grace.id, now=LATER)

    assert as_it_is(database, acme, past) == past
    for before in (pending, approved):
        after = as_it_is(database, acme, before)
        assert (after.cover_user_id, after.status) == (None, before.status)
        assert after.version == before.version + 1
        (entry,) = audit_entries(
            database, acme.caller, subject_id=before.id, action="leave_request.updated"
        )
        assert entry.changes["cover_user_id"] == {"before": grace.id, "after": None}
        assert entry.changes["why"]["after"] == "cover_archived"

    acme.write(people.restore, grace.id, now=LATER)
    assert as_it_is(database, acme, pending).cover_user_id is None


def test_the_cover_of_approved_leave_changes_at_once(database: Database, acme: Acme) -> None:
    grace = grace_of(database, acme)
    ada = a_person(database, acme, manager_id=grace.id)
    hedy = a_person(database, acme, first_name="Hedy")
    strict = a_leave_type(database, acme, code="strict", changes_need_approval=True)
    request = approve(
        database, acme, a_request(database, acme, ada, code=strict.code, cover_user_id=grace.id)
    )

    changed = edit(database, acme, ada, request, cover_user_id=hedy.id)
    assert (changed.status, changed.cover_user_id, changed.amendment_id) == (
        "approved",
        hedy.id,
        None,
    )

    moved = edit(
        database, acme, ada, request, cover_user_id=grace.id, start_date=FRIDAY, end_date=FRIDAY
    )
    assert (moved.start_date, moved.cover_user_id) == (MONDAY, grace.id)
    assert moved.amendment_id is not None
    amended = approve(database, acme, request)
    assert (amended.start_date, amended.cover_user_id) == (FRIDAY, grace.id)


def test_upcoming_covered_leave_is_approved_and_not_over(database: Database, acme: Acme) -> None:
    ada, grace = a_person(database, acme), grace_of(database, acme)
    for start_date in (date(2026, 5, 5), MONDAY, FRIDAY):
        approve(
            database,
            acme,
            a_request(database, acme, ada, start_date=start_date, cover_user_id=grace.id),
        )
    a_request(database, acme, ada, start_date=WEDNESDAY, cover_user_id=grace.id)

    upcoming = database.read_now(
        covers.upcoming_covered, acme.id, grace.id, date(2026, 6, 1), limit=5
    )

    assert [(leave.person_name, leave.start_date) for leave in upcoming] == [
        ("Ada Lovelace", MONDAY),
        ("Ada Lovelace", FRIDAY),
    ]


def test_no_leave_keeps_a_cover_who_is_archived_at_the_same_moment(database: Database) -> None:
    acme = an_organisation(database)
    ada, grace, joan = a_person(database, acme), grace_of(database, acme), grace_of(database, acme)
    by = caller_for(acme, ada)
    draft = Draft(leave_type_id=type_id(database, acme), start_date=MONDAY, end_date=MONDAY)
    covered_by_grace = replace(draft, cover_user_id=grace.id)
    request = a_request(database, acme, ada, start_date=FRIDAY)

    refused = overlapping(
        database,
        lambda tx: people_status.archive(tx, grace.id, by=acme.caller, now=LATER),
        lambda: database.write_now(leave_requests.submit, by=by, draft=covered_by_grace, now=NOW),
    )
    overlapping(
        database,
        lambda tx: leave_requests.edit(tx, request.id, {"cover_user_id": joan.id}, by=by, now=NOW),
        lambda: acme.write(people_status.archive, joan.id, now=LATER),
    )

    assert refused == ["cover_archived"]
    after = as_it_is(database, acme, request)
    assert (after.cover_user_id, after.version) == (None, 3)


def test_leave_that_is_cancelled_while_its_cover_is_archived_stays_cancelled(
    database: Database, acme: Acme
) -> None:
    ada, grace = a_person(database, acme), grace_of(database, acme)
    request = a_request(database, acme, ada, cover_user_id=grace.id)

    refused = overlapping(
        database,
        lambda tx: leave_requests.cancel(tx, request.id, by=caller_for(acme, ada), now=NOW),
        lambda: acme.write(people_status.archive, grace.id, now=LATER),
    )

    after = as_it_is(database, acme, request)
    assert (refused, after.status, after.cover_user_id) == ([], "cancelled", grace.id)
