"""When a person is back at work after leave."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from storage.db.database import Database, Transaction
from storage.leave import returns
from storage.leave.returns import Return
from storage.outbox import organisation_config
from storage.people import people_rows
from tests.builders import a_person, a_request, an_organisation, approved_leave

pytestmark = [pytest.mark.shared_database, pytest.mark.both_engines]

MONDAY = date(2026, 8, 3)
FRIDAY = date(2026, 8, 7)


def back(database: Database, request: dict[str, Any], *, then: dict[str, Any]) -> Return | None:
    """The return of someone in England, Monday to Friday, who has approved leave afterwards."""
    acme = an_organisation(database)
    ada = a_person(database, acme)
    if then:
        approved_leave(database, acme, ada, **then)
    asked = a_request(database, acme, ada, **request)

    def read(tx: Transaction) -> Return | None:
        config = organisation_config.of_organisation(tx, acme.id)
        return returns.after(tx, config, people_rows.get(tx, ada.id, by=acme.caller), asked)

    return database.read_now(read)


@pytest.mark.parametrize(
    ("request_", "then", "expected"),
    [
        ({"end_date": FRIDAY}, {}, Return(day=date(2026, 8, 10), is_at_midday=False)),
        # Boxing Day is a Saturday, and Monday the substitute.
        (
            {"start_date": date(2026, 12, 21), "end_date": date(2026, 12, 24)},
            {},
            Return(day=date(2026, 12, 29), is_at_midday=False),
        ),
        (
            {"end_date": FRIDAY, "end_half_day": "am"},
            {},
            Return(day=FRIDAY, is_at_midday=True),
        ),
        (
            {"start_half_day": "am"},
            {},
            Return(day=MONDAY, is_at_midday=True),
        ),
        (
            {"end_date": FRIDAY},
            {"start_date": date(2026, 8, 10), "end_date": date(2026, 8, 11)},
            Return(day=date(2026, 8, 12), is_at_midday=False),
        ),
        (
            {"end_date": FRIDAY},
            {"start_date": date(2026, 8, 10), "start_half_day": "am"},
            Return(day=date(2026, 8, 10), is_at_midday=True),
        ),
    ],
    ids=["weekend", "holiday", "last morning", "one morning", "more leave", "a morning more"],
)
def test_a_person_is_back_in_their_first_working_time_that_no_leave_takes(
    database: Database, request_: dict[str, Any], then: dict[str, Any], expected: Return
) -> None:
    assert back(database, {"start_date": MONDAY, **request_}, then=then) == expected
