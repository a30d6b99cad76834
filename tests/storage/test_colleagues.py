"""The colleagues who are off with many requests are those of each, read in one query."""

from __future__ import annotations

from datetime import date

from storage.db.database import Database, Transaction
from storage.people import colleagues
from storage.rules import counted_days
from tests.builders import Acme, a_department, a_person, a_request

MONDAY, TUESDAY = date(2026, 8, 3), date(2026, 8, 4)


def test_many_requests_have_the_colleagues_of_each(database: Database, acme: Acme) -> None:
    head = a_person(database, acme, first_name="Head")
    engineering = a_department(database, acme, manager_id=head.id)
    sales = a_department(database, acme, name="Sales")
    ada = a_person(database, acme, first_name="Ada", department_id=engineering.id)
    alan = a_person(database, acme, first_name="Alan", department_id=engineering.id)
    zoe = a_person(database, acme, first_name="Zoe", department_id=sales.id)
    eve = a_person(database, acme, first_name="Eve", manager_id=zoe.id)
    dora = a_person(database, acme, first_name="Dora")
    requests = [
        a_request(database, acme, ada, start_half_day="am", end_half_day="am"),
        a_request(database, acme, ada, start_date=TUESDAY),
        a_request(database, acme, alan, start_half_day="pm", code="sick"),
        a_request(database, acme, zoe, end_date=TUESDAY),
        a_request(database, acme, eve, start_date=TUESDAY),
        a_request(database, acme, head),
        a_request(database, acme, dora),
    ]
    people = {person.id: person for person in (head, ada, alan, zoe, eve, dora)}
    pairs = {
        request.id: (people[request.user_id], counted_days.span_of(request)) for request in requests
    }

    def both(tx: Transaction) -> None:
        many = colleagues.off_with_each(tx, acme.id, pairs, includes_pending=True)
        each = {
            request_id: colleagues.off_with(tx, acme.id, *pair, includes_pending=True)
            for request_id, pair in pairs.items()
        }
        assert many == each
        named = [[off.name.split()[0] for off in each[request.id].named] for request in requests]
        assert named == [["Head"], [], ["Head"], ["Eve"], [], ["Ada", "Alan"], []]

    database.read_now(both)
