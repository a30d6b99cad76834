"""Leave requests are saved only as they were read."""

from __future__ import annotations

from dataclasses import replace

from storage.db.database import Database
from storage.leave import decisions, leave_rows
from tests.builders import NOW, a_person, a_request, an_organisation


def test_a_request_that_changed_since_it_was_read_is_not_saved(database: Database) -> None:
    acme = an_organisation(database)
    as_read = a_request(database, acme, a_person(database, acme))
    approved = database.write_now(decisions.approve, as_read.id, by=acme.caller, now=NOW)

    is_saved = database.write_now(
        leave_rows.save,
        "leave_request.declined",
        as_read,
        replace(as_read, status="declined"),
        by=acme.caller,
        now=NOW,
    )

    after = database.read_now(leave_rows.find, acme.id, as_read.id)
    assert not is_saved
    assert after == approved
