"""Which absences are in a feed, beyond what ``tests/api/test_calendar_privacy.py`` compares."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta

import pytest

from storage.admin import people
from storage.base.calendar_values import Absence, FeedScope
from storage.base.ids import new_id
from storage.base.leave_values import LeaveType
from storage.base.values import User
from storage.calendars import absences
from storage.calendars.feed_owners import FeedOwner
from storage.db.database import Database
from storage.db.pages import PageOf
from storage.db.tables import LeaveRequestRow
from storage.leave import leave_types
from storage.outbox import organisation_config
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    an_organisation,
    caller_for,
    owner_of_feed,
    personal_token,
)

pytestmark = pytest.mark.shared_database

FIRST_DAY = date(2025, 6, 1)
LAST_DAY = date(2028, 6, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Cast:
    """Ada is away. The keys name the others' relation to her."""

    acme: Acme
    ada: User
    viewers: dict[str, User]


def a_cast(database: Database) -> Cast:
    acme = an_organisation(database)
    head = a_person(database, acme, first_name="Head")
    team = a_department(database, acme, name="Team", manager_id=head.id)
    elsewhere = a_department(database, acme, name="Elsewhere")
    manager = a_person(database, acme, first_name="Grace", department_id=elsewhere.id)
    ada = a_person(database, acme, department_id=team.id, manager_id=manager.id)
    colleague = a_person(database, acme, first_name="Carl", department_id=team.id)
    stranger = a_person(database, acme, first_name="Hedy", department_id=elsewhere.id)
    viewers = {
        "colleague": colleague,
        "manager": manager,
        "department head": head,
        "other department": stranger,
    }
    return Cast(acme=acme, ada=ada, viewers=viewers)


def a_request(
    database: Database,
    acme: Acme,
    user: User,
    *,
    start_date: date = date(2026, 6, 10),
    end_date: date | None = None,
) -> str:
    """An approved request, written as a row without checks."""
    request_id = new_id(NOW)
    row = {
        "organisation_id": acme.id,
        "id": request_id,
        "user_id": user.id,
        "leave_type_id": type_of(database, acme, "annual").id,
        "status": "approved",
        "start_date": start_date.isoformat(),
        "end_date": (end_date or start_date).isoformat(),
        "total_half_days": 2,
        "counted_halves": "3",
        "decided_at": NOW,
        "created_at": NOW,
        "updated_at": NOW,
        "version": 3,
    }
    database.write_now(lambda tx: tx.insert(LeaveRequestRow, **row))
    return request_id


def type_of(database: Database, acme: Acme, code: str) -> LeaveType:
    types = acme.read(leave_types.page, PageOf(limit=100)).items
    return next(leave_type for leave_type in types if leave_type.code == code)


def feed_of(database: Database, acme: Acme, user: User) -> FeedOwner:
    token = database.write_now(personal_token, by=caller_for(acme, user), now=NOW)
    return owner_of_feed(database, token)


def visible(
    database: Database, acme: Acme, viewer: User, scope: FeedScope, now: datetime = NOW
) -> list[Absence]:
    config = database.read_now(organisation_config.of_organisation, acme.id)
    return database.read_now(
        absences.visible,
        feed_of(database, acme, viewer),
        scope,
        config.leave_types,
        first_day=FIRST_DAY,
        last_day=LAST_DAY,
        now=now,
    )


def test_the_manager_of_the_department_is_in_the_team(database: Database) -> None:
    cast = a_cast(database)
    a_request(database, cast.acme, cast.viewers["department head"])

    [absence] = visible(database, cast.acme, cast.ada, "team")

    assert absence.person_name == "Head Lovelace"


def test_a_manager_from_another_department_is_not_in_the_team(database: Database) -> None:
    cast = a_cast(database)
    a_request(database, cast.acme, cast.viewers["manager"])

    assert visible(database, cast.acme, cast.ada, "team") == []


def test_moving_to_another_department_moves_the_team_feed(database: Database) -> None:
    cast = a_cast(database)
    a_request(database, cast.acme, cast.ada)
    new = cast.viewers["other department"].department_id
    by = cast.acme.caller

    database.write_now(people.update, cast.ada.id, {"department_id": new}, by=by, now=NOW)

    assert visible(database, cast.acme, cast.viewers["colleague"], "team") == []
    assert len(visible(database, cast.acme, cast.viewers["other department"], "team")) == 1


def test_an_organisation_never_sees_another(database: Database) -> None:
    acme, other = an_organisation(database), an_organisation(database, name="Other")
    a_request(database, acme, acme.owner)

    assert visible(database, other, other.owner, "org") == []
    assert len(visible(database, acme, acme.owner, "org")) == 1


def test_the_window_holds_both_of_its_days(database: Database, acme: Acme) -> None:
    one_day = timedelta(days=1)
    for start_date, end_date in (
        (FIRST_DAY - 3 * one_day, FIRST_DAY - one_day),
        (FIRST_DAY - 3 * one_day, FIRST_DAY),
        (FIRST_DAY - 365 * one_day, FIRST_DAY),
        (LAST_DAY, LAST_DAY + one_day),
        (LAST_DAY + one_day, LAST_DAY + one_day),
    ):
        a_request(database, acme, acme.owner, start_date=start_date, end_date=end_date)

    leave = visible(database, acme, acme.owner, "personal")

    assert [absence.start_date for absence in leave] == [
        FIRST_DAY - 365 * one_day,
        FIRST_DAY - 3 * one_day,
        LAST_DAY,
    ]
    assert leave[1].end_date == FIRST_DAY


def test_a_person_without_a_time_zone_has_the_organisations(database: Database) -> None:
    acme = an_organisation(database, timezone="Europe/London")
    tokyo = a_person(database, acme, timezone="Asia/Tokyo")
    a_request(database, acme, tokyo, start_date=date(2026, 6, 10))
    a_request(database, acme, acme.owner, start_date=date(2026, 6, 11))

    zones = [absence.timezone for absence in visible(database, acme, tokyo, "org")]

    assert zones == ["Asia/Tokyo", "Europe/London"]
