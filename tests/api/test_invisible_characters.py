"""Invisible characters are refused in every name, note and reason, with the field's name."""

from __future__ import annotations

from typing import Any, Final

import pytest

from storage.db.database import Database
from tests.api.conftest import Client, a_key
from tests.builders import a_department, a_leave_type, a_person, a_request, an_organisation

pytestmark = [pytest.mark.both_engines, pytest.mark.shared_database]

V1: Final = "/api/v1"
# The first and the last of each range, a control of either set, and DEL.
INVISIBLE: Final = "\u202a\u202e\u2066\u2069\x01\x7f\x9f"

# Every text field: method, path, the rest of the body, and the field.
WRITTEN: Final[list[tuple[str, str, dict[str, Any], str]]] = [
    ("POST", "/users", {"email": "new@example.com", "last_name": "B"}, "first_name"),
    ("POST", "/users", {"email": "new@example.com", "first_name": "A"}, "last_name"),
    ("PATCH", "/users/{user}", {}, "first_name"),
    ("PATCH", "/users/{user}", {}, "last_name"),
    ("PATCH", "/users/{user}", {}, "job_title"),
    ("POST", "/departments", {}, "name"),
    ("PATCH", "/departments/{department}", {}, "name"),
    ("POST", "/leave-types", {}, "name"),
    ("PATCH", "/leave-types/{type}", {}, "name"),
    ("PATCH", "/organisation", {}, "name"),
    (
        "POST",
        "/leave",
        {"leave_type": "annual", "start_date": "2026-09-07", "end_date": "2026-09-07"},
        "note",
    ),
    (
        "POST",
        "/leave-requests",
        {"leave_type_id": "{annual}", "start_date": "2026-09-07", "end_date": "2026-09-07"},
        "note",
    ),
    ("POST", "/approvals/{request}/decline", {}, "reason"),
    ("POST", "/users/{user}/adjustments", {"leave_year": 2026, "days": 1}, "reason"),
    ("POST", "/calendar-feeds", {}, "name"),
    ("POST", "/api-keys", {"scopes": ["users:read"]}, "name"),
    ("POST", "/organisation/public-holiday-sets/{set}/overrides", {"date": "2026-08-05"}, "name"),
]


def test_every_name_note_and_reason_is_refused_with_its_field(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)
    ada = a_person(database, acme)
    sets = client.get(f"{V1}/organisation/public-holiday-sets", key).json()["data"]
    types = client.get(f"{V1}/leave-types", key).json()["data"]
    ids = {
        "user": ada.id,
        "department": a_department(database, acme).id,
        "type": a_leave_type(database, acme).id,
        "request": a_request(database, acme, ada).id,
        "annual": next(leave_type["id"] for leave_type in types if leave_type["code"] == "annual"),
        "set": sets[0]["id"],
    }

    for method, path, around, field in WRITTEN:
        body = {
            name: value.format(**ids) if isinstance(value, str) else value
            for name, value in around.items()
        }
        for character in INVISIBLE:
            text = f"Ada{character} the first"
            response = client.request(
                method,
                V1 + path.format(**ids),
                key=key,
                json=body | {field: text},
            )

            assert response.status_code == 422, (method, path, field, response.text)
            (error,) = response.json()["errors"]
            assert error["pointer"] == f"/{field}", (method, path, error)
            assert error["code"] == "control_character"
            assert f"U+{ord(character):04X}" in error["detail"]


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
