"""Invisible characters are refused in every name, note and reason, with the field's name."""

from __future__ import annotations

from typing import Final

import pytest

from api.service.app import OPERATIONS
from storage.db.database import Database
from tests.api.conftest import Client
from tests.api.exercising import body_of, call, fields_of, things
from tests.builders import a_key, an_organisation

pytestmark = [pytest.mark.both_engines, pytest.mark.shared_database]

V1: Final = "/api/v1"
# The first and the last of each range, a control of either set, and DEL.
INVISIBLE: Final = "\u202a\u202e\u2066\u2069\x01\x7f\x9f"

TEXTS: Final = {"name", "first_name", "last_name", "job_title", "note", "reason"}
WRITTEN: Final = [
    (operation, name)
    for operation in OPERATIONS
    # A preview lists refusals in its body.
    if operation.body is not None and operation.operation_id != "leave_requests.preview"
    for name, _ in fields_of(operation.body)
    if name in TEXTS
]


def test_every_name_note_and_reason_is_refused_with_its_field(
    client: Client, database: Database
) -> None:
    there = things(client, database)

    for operation, name in WRITTEN:
        for character in INVISIBLE:
            body = body_of(operation, there) | {name: f"Ada{character} the first"}
            response = call(client, operation, there, json=body)

            assert response.status_code == 422, (operation.operation_id, name, response.text)
            (error,) = response.json()["errors"]
            assert (error["pointer"], error["code"]) == (f"/{name}", "control_character")
            assert f"U+{ord(character):04X}" in error["detail"]
    assert {name for _, name in WRITTEN} == TEXTS
    assert len(WRITTEN) > 20


def test_notes_may_have_lines_and_tabs(client: Client, database: Database) -> None:
    key = a_key(database, an_organisation(database))
    body = {"leave_type": "annual", "start_date": "2026-09-07", "end_date": "2026-09-07"}

    response = client.post(f"{V1}/leave", key, json=body | {"note": "a\nb\tc\r\nd"})

    assert response.status_code == 201


def test_scripts_keep_their_joiners_and_marks(client: Client, database: Database) -> None:
    key = a_key(database, an_organisation(database))
    # Persian with a zero width non-joiner, an emoji of two, and Hebrew with a mark.
    for name in ("می\u200cخواهم", "\U0001f469\u200d\U0001f4bb Dev", "אב\u200f (1)"):
        assert client.post(f"{V1}/departments", key, json={"name": name}).status_code == 201
