"""The leave type and the day with which a request form opens."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest

from storage.base.leave_values import LeaveType
from storage.base.values import User
from storage.db.database import Database, Transaction
from storage.leave import form_defaults, leave_requests, leave_types
from storage.leave.drafts import Draft
from storage.outbox import organisation_config
from storage.people import people_rows
from tests.builders import (
    NOW,
    Acme,
    a_leave_type,
    a_person,
    a_request,
    an_organisation,
    type_id,
)

pytestmark = pytest.mark.shared_database

# A Monday.
TODAY = NOW.date()


def defaults(
    database: Database, acme: Acme, user: User, *, today: date = TODAY
) -> tuple[LeaveType | None, date]:
    def read(tx: Transaction) -> tuple[LeaveType | None, date]:
        config = organisation_config.of_organisation(tx, acme.id)
        person = people_rows.get(tx, user.id, by=acme.caller)
        leave_type = form_defaults.usual_type(tx, config, person)
        day = form_defaults.next_free_day(tx, config, person, leave_type, today=today)
        return leave_type, day

    return database.read_now(read)


def code_of(leave_type: LeaveType | None) -> str | None:
    return None if leave_type is None else leave_type.code


def test_a_first_request_is_for_annual_leave_tomorrow(
    database: Database, acme: Acme, ada: User
) -> None:
    leave_type, day = defaults(database, acme, ada)

    assert (code_of(leave_type), day) == ("annual", TODAY + timedelta(days=1))


def test_the_type_that_was_requested_last_is_offered_again(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    a_request(database, acme, ada, code="unpaid", start_date=date(2026, 9, 1))
    a_request(database, acme, ada, code="parental", start_date=date(2026, 8, 3))

    assert code_of(defaults(database, acme, ada)[0]) == "parental"


def test_a_type_that_is_no_longer_in_use_is_not_offered(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    a_request(database, acme, ada, code="unpaid")
    unpaid = type_id(database, acme, "unpaid")
    acme.write(leave_types.update, unpaid, {"is_archived": True})

    assert code_of(defaults(database, acme, ada)[0]) == "annual"


def test_a_sick_day_does_not_make_the_next_request_sick_leave(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    bob = a_person(database, acme)
    a_request(database, acme, ada, code="unpaid", start_date=date(2026, 9, 1))
    a_request(database, acme, ada, code="sick", start_date=TODAY)
    a_request(database, acme, bob, code="sick", start_date=TODAY)

    assert code_of(defaults(database, acme, ada)[0]) == "unpaid"
    assert code_of(defaults(database, acme, bob)[0]) == "annual"


def test_without_a_type_that_deducts_a_first_request_is_for_a_planned_one(
    database: Database, acme: Acme, ada: User
) -> None:
    annual = type_id(database, acme)
    acme.write(leave_types.delete, annual)

    assert code_of(defaults(database, acme, ada)[0]) == "unpaid"


def test_leave_that_others_recorded_does_not_change_the_offered_type(database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    sick = Draft(leave_type_id=type_id(database, acme, "sick"), start_date=TODAY, end_date=TODAY)
    acme.write(leave_requests.create, draft=sick, user_id=ada.id)

    assert code_of(defaults(database, acme, ada)[0]) == "annual"


@pytest.mark.parametrize(
    ("today", "day"),
    [
        pytest.param(date(2026, 8, 7), date(2026, 8, 10), id="over the weekend"),
        pytest.param(date(2026, 8, 28), date(2026, 9, 1), id="over a bank holiday"),
    ],
)
def test_days_off_are_passed_over(database: Database, today: date, day: date) -> None:
    acme = an_organisation(database, country_code="GB-ENG")
    ada = a_person(database, acme)

    assert defaults(database, acme, ada, today=today)[1] == day


def test_days_on_leave_are_passed_over(database: Database, acme: Acme, ada: User) -> None:
    a_request(database, acme, ada, start_date=TODAY, end_date=TODAY + timedelta(days=2))

    assert defaults(database, acme, ada)[1] == TODAY + timedelta(days=3)


@pytest.mark.parametrize(
    ("fields", "days_ahead"),
    [
        pytest.param({"min_notice_days": 9}, 9, id="nine days' notice"),
        pytest.param({"requires_approval": False}, 0, id="recorded when it happens"),
    ],
)
def test_the_day_is_one_that_the_type_allows(
    database: Database, acme: Acme, ada: User, fields: dict[str, Any], days_ahead: int
) -> None:
    leave_type = a_leave_type(database, acme, name="Study", **fields)

    def read(tx: Transaction) -> date:
        config = organisation_config.of_organisation(tx, acme.id)
        return form_defaults.next_free_day(tx, config, ada, leave_type, today=TODAY)

    assert database.read_now(read) == TODAY + timedelta(days=days_ahead)


def test_a_person_who_is_about_to_leave_gets_today(database: Database, acme: Acme) -> None:
    ada = a_person(database, acme, end_date=TODAY)

    assert defaults(database, acme, ada)[1] == TODAY
