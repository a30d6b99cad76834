"""The balances of many requests are those of each."""

from __future__ import annotations

from datetime import date

from storage.db.database import Database, Transaction
from storage.leave import leave_balances
from storage.outbox import organisation_config
from storage.people import people_rows
from tests.builders import a_person, a_request, an_organisation, approved_leave


def test_many_requests_have_the_balances_of_each(database: Database) -> None:
    acme = an_organisation(database, carry_over_half_days=10, carry_over_expiry_month=3)
    ada, amir, zoe = (a_person(database, acme, first_name=name) for name in ("Ada", "Amir", "Zoe"))
    approved_leave(database, acme, ada, start_date=date(2026, 7, 6))
    requests = [
        a_request(database, acme, ada),
        a_request(database, acme, ada, start_date=date(2026, 12, 28), end_date=date(2027, 1, 8)),
        a_request(database, acme, amir),
        a_request(database, acme, zoe, code="unpaid"),
    ]

    def both(tx: Transaction) -> None:
        config = organisation_config.of_organisation(tx, acme.id)
        people = people_rows.of_ids(tx, acme.id, {ada.id, amir.id, zoe.id})
        many = leave_balances.around_requests(tx, config, requests, people)
        each = {
            request.id: leave_balances.around_request(tx, config, request, people[request.user_id])
            for request in requests
        }
        assert many == {request_id: found for request_id, found in each.items() if found}
        assert [len(each[request.id]) for request in requests] == [1, 2, 1, 0]

    database.read_now(both)
