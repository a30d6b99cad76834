"""`POST /imports`: a CSV file as a form."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from storage.db.database import Database
from tests.api.conftest import Client
from tests.builders import Acme, a_key, a_person

PATH = "/api/v1/imports"
PEOPLE = b"email,name,days_left,days_left_on\nada@x.example,Ada Lovelace,12.5,2026-06-01\n"
LEAVE = b"email,leave_type,start_date,end_date\nada@x.example,annual,2026-08-03,2026-08-07\n"


def send(client: Client, key: str, content: bytes, query: str = "", **more: Any) -> httpx.Response:
    headers = more.pop("headers", {})
    files = {"file": ("file.csv", content, "text/csv")}
    return client.post(f"{PATH}{query}", key, files=files, data=more, headers=headers)


def test_people_balances_and_leave_are_imported_after_a_dry_run(
    client: Client, acme: Acme, key: str
) -> None:
    tried = send(client, key, PEOPLE, "?dry_run=true")
    done = send(client, key, PEOPLE)
    booked = send(client, key, LEAVE)
    again = [send(client, key, content).json() for content in (PEOPLE, LEAVE)]

    assert (tried.status_code, done.status_code) == (200, 200)
    assert tried.json() == done.json()
    assert done.json() | {"people_created": 1, "days_left_set": 1, "kind": "people"} == done.json()
    assert (booked.json()["kind"], booked.json()["leave_created"]) == ("leave", 1)
    assert [each["people_created"] + each["leave_created"] for each in again] == [0, 0]
    assert [again[0]["people_unchanged"], again[1]["leave_known"]] == [1, 1]
    users = {user["email"]: user for user in client.get("/api/v1/users", key).json()}
    balance = client.get(f"/api/v1/users/{users['ada@x.example']['id']}/balance", key).json()
    assert balance["remaining"] == 7.5


def test_every_error_has_line_column_value_and_cure(client: Client, key: str) -> None:
    refused = send(client, key, b"email,name,start_date\nada@x.example,Ada L,31.02.2026\nx,B C,\n")

    problem = refused.json()
    assert (refused.status_code, problem["code"], problem["error_count"]) == (422, "bad_lines", 2)
    assert problem["lines"] == [
        {
            "line": 2,
            "column": "start_date",
            "value": "31.02.2026",
            "code": "invalid_date",
            "detail": "Use a date that exists, as YYYY-MM-DD.",
        },
        {
            "line": 3,
            "column": "email",
            "value": "x",
            "code": "invalid_email",
            "detail": problem["lines"][1]["detail"],
        },
    ]
    assert problem["detail"] == "Nothing was imported: 2 errors in 2 lines."


def test_a_request_with_an_idempotency_key_is_carried_out_once(client: Client, key: str) -> None:
    once = {"Idempotency-Key": "import-1"}
    # Clients separate the parts of a repeated form differently.
    first = send(client, key, PEOPLE, headers=once)
    second = send(client, key, PEOPLE, headers=once)
    other = send(client, key, LEAVE, headers=once)

    assert second.json() == first.json()
    assert second.headers["Idempotent-Replayed"] == "true"
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


def test_members_and_keys_without_the_scopes_import_nothing(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    member = a_key(database, acme, a_person(database, acme))
    users_only = a_key(database, acme, scopes=["users:write"])

    assert send(client, member, PEOPLE).json()["code"] == "insufficient_role"
    refused = send(client, users_only, LEAVE)
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_scope")
    assert send(client, users_only, b"email,name\na@x.example,A B\n").status_code == 200


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"json": {"file": "x"}}, 415, "unsupported_media_type"),
        ({"data": {"update": "true"}}, 415, "unsupported_media_type"),
        ({"files": {"other": ("a", b"x")}}, 422, "wrong_type"),
        ({"files": {"file": ("a", PEOPLE)}, "data": {"shoe": "44"}}, 422, "unknown_field"),
        ({"files": {"file": ("a", PEOPLE)}, "data": {"hours_per_day": "0"}}, 422, None),
        ({"files": {"file": ("a", PEOPLE)}, "data": {"update": "x" * 2_000}}, 400, "bad_request"),
        ({"files": [("file", ("a", PEOPLE)), ("file", ("b", PEOPLE))]}, 400, "bad_request"),
        (
            {"files": {"file": ("a", PEOPLE)}, "data": {"update": ["true", "true"]}},
            422,
            "repeated_field",
        ),
        ({"files": {"file": ("a", b"x" * 1024 * 1024)}}, 413, "body_too_large"),
        ({"files": {"file": ("a", b"")}}, 422, "empty"),
        ({"files": {"file": ("a", b"\xff\xfe\x00")}}, 422, "not_utf_16"),
        (
            {
                "content": b"--c\r\nnonsense",
                "headers": {"Content-Type": "multipart/form-data; boundary=b"},
            },
            400,
            "bad_request",
        ),
        (
            {"content": b"--b--", "headers": {"Content-Type": "multipart/form-data"}},
            400,
            "bad_request",
        ),
    ],
)
def test_other_bodies_are_refused(
    client: Client, key: str, body: dict[str, Any], status: int, code: str | None
) -> None:
    refused = client.post(PATH, key, **body)

    assert refused.status_code == status, refused.text
    assert code is None or refused.json()["code"] == code
