"""`Idempotency-Key`: a repeated request changes nothing and gets the first response."""

from __future__ import annotations

import threading
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import pytest

from storage.base.secrets import Secrets
from storage.db.compiled import compiled
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.db.tables import IdempotencyKeyRow
from storage.keys import idempotency
from storage.keys.idempotency import Claim, IdempotencyInProgress, StoredResponse
from tests.api.conftest import Client, application
from tests.builders import NOW, Acme, a_department, a_key, a_person, an_organisation, type_id
from tests.refusals import at_once

pytestmark = pytest.mark.both_engines

DEPARTMENTS = "/api/v1/departments"
KEY = {"Idempotency-Key": "3f0b7c1e-5d0c-4c8e-9a52-7c1e6a3d9b20"}
# The headers that may differ between a response and its replay.
_OF_EACH_RESPONSE = {"x-request-id", "ratelimit", "idempotent-replayed"}


def shown(response: httpx.Response) -> tuple[int, bytes, dict[str, str]]:
    headers = {
        name: value for name, value in response.headers.items() if name not in _OF_EACH_RESPONSE
    }
    return response.status_code, response.content, headers


def names(client: Client, key: str) -> list[str]:
    return [department["name"] for department in client.get(DEPARTMENTS, key).json()["data"]]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (DEPARTMENTS, {"name": "Research"}, 201),
        ("/api/v1/webhooks", {"url": "https://hook.invalid/", "events": ["*"]}, 201),
        (DEPARTMENTS, {"name": "Sales"}, 409),
    ],
    ids=["created", "with a secret in the answer", "refused by a rule"],
)
def test_an_unreadable_stored_response_is_refused_without_repeating_the_request(
    database: Database, database_url: str, path: str, body: dict[str, Any], status: int
) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)
    a_department(database, acme, name="Sales")
    client = Client(application(database))
    first = client.post(path, key, json=body, headers=KEY)
    client.close()
    with closing(open_database(database_url, Secrets.generate())) as without_the_key:
        client = Client(application(without_the_key))
        again = [client.post(path, key, json=body, headers=KEY) for _ in range(2)]
        listed = client.get(path, key).json()["data"]
        client.close()

    assert first.status_code == status
    for response in again:
        assert response.status_code == 409
        assert response.json()["code"] == "idempotency_answer_unreadable"
        assert f"answered with status {status}" in response.json()["detail"]
    # The department from before, and the one that the first request created.
    assert len(listed) == (path == DEPARTMENTS) + (status == 201)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (DEPARTMENTS, b'{"name": "Sales"}'),
        (DEPARTMENTS, b'{"name":"Research"}'),
        ("/api/v1/leave-types", b'{"name": "Research"}'),
    ],
    ids=["other body", "other bytes", "other path"],
)
def test_a_key_reused_for_another_request_is_refused(
    client: Client, key: str, path: str, body: bytes
) -> None:
    headers = {**KEY, "Content-Type": "application/json"}
    client.post(DEPARTMENTS, key, content=b'{"name": "Research"}', headers=headers)

    response = client.post(path, key, content=body, headers=headers)

    assert (response.status_code, response.json()["code"]) == (422, "idempotency_key_reused")
    assert names(client, key) == ["Research"]


def test_idempotency_keys_belong_to_their_api_key(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    other = a_key(database, acme)

    for used, name in ((key, "Research"), (other, "Sales")):
        response = client.post(DEPARTMENTS, used, json={"name": name}, headers=KEY)
        assert response.status_code == 201

    assert names(client, key) == ["Research", "Sales"]


def test_a_refusal_is_stored_and_replayed(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    body = {
        "leave_type_id": type_id(database, acme, "unpaid"),
        "start_date": "2026-08-03",
        "end_date": "2026-08-03",
    }
    booked_id = client.post("/api/v1/leave-requests", key, json=body).json()["id"]

    refused = client.post("/api/v1/leave-requests", key, json=body, headers=KEY)
    client.post(f"/api/v1/leave-requests/{booked_id}/cancel", key)
    again = client.post("/api/v1/leave-requests", key, json=body, headers=KEY)

    assert (refused.status_code, refused.json()["code"]) == (409, "overlapping_leave")
    assert again.headers["Idempotent-Replayed"] == "true"
    assert shown(again) == shown(refused)
    assert client.post("/api/v1/leave-requests", key, json=body).status_code == 201


def test_a_forbidden_request_leaves_the_idempotency_key_unused(
    client: Client, database: Database, acme: Acme
) -> None:
    reader = a_key(database, acme, scopes=["departments:read"])
    member = a_key(database, acme, a_person(database, acme))

    for used, status in (("hiatus_sk_live_x", 401), (reader, 403), (member, 403)):
        for _ in range(2):
            refused = client.post(DEPARTMENTS, used, json={"name": "Research"}, headers=KEY)
            assert refused.status_code == status
            assert "Idempotent-Replayed" not in refused.headers


def test_a_request_refused_for_its_form_leaves_the_key_unused(client: Client, key: str) -> None:
    misspelt = client.post(DEPARTMENTS, key, json={"nmae": "Research"}, headers=KEY)
    corrected = client.post(DEPARTMENTS, key, json={"name": "Research"}, headers=KEY)

    assert (misspelt.status_code, corrected.status_code) == (422, 201)


@pytest.mark.parametrize(
    "values",
    [[b""], [b"x" * 256], [b"caf\xe9"], [b"a\tb"], [b"one", b"two"]],
    ids=["empty", "long", "not ASCII", "control character", "two"],
)
def test_a_malformed_key_is_refused_by_name(client: Client, key: str, values: list[bytes]) -> None:
    headers = httpx.Headers([(b"Idempotency-Key", value) for value in values])

    response = client.post(DEPARTMENTS, key, json={"name": "Research"}, headers=headers)

    assert response.status_code == 422
    assert [error["pointer"] for error in response.json()["errors"]] == ["Idempotency-Key"]
    assert names(client, key) == []


def test_a_response_is_stored_for_a_day(client: Client, database: Database, key: str) -> None:
    client.post(DEPARTMENTS, key, json={"name": "Research"}, headers=KEY)
    claim = _only_claim(database)

    late = NOW + timedelta(hours=24)
    almost = database.read_now(idempotency.find, claim, now=late - timedelta(milliseconds=1))
    assert almost is not None
    assert database.read_now(idempotency.find, claim, now=late) is None

    # The same key again, a day later and before anything was pruned.
    database.write_now(
        idempotency.store, claim, StoredResponse(status=200, headers=[], content=b"{}"), now=late
    )
    assert database.write_now(idempotency.prune, now=late, limit=10) == 0
    stored = database.read_now(idempotency.find, claim, now=late)
    assert stored is not None
    assert stored.content == b"{}"


def test_old_responses_are_pruned_in_batches(client: Client, database: Database, key: str) -> None:
    for number in range(3):
        headers = {"Idempotency-Key": f"number {number}"}
        client.post(DEPARTMENTS, key, json={"name": "Research"}, headers=headers)

    def prune(hours: int) -> int:
        now = NOW + timedelta(hours=hours)
        return database.write_now(idempotency.prune, now=now, limit=2)

    assert [prune(24), prune(25), prune(25), prune(25)] == [0, 2, 1, 0]


@pytest.mark.parametrize(
    ("path", "body", "member"),
    [
        ("/api/v1/api-keys", {"name": "ci", "scopes": ["leave:read"]}, "api_key"),
        ("/api/v1/webhooks", {"url": "https://203.0.114.9/hook", "events": ["*"]}, "secret"),
    ],
)
def test_a_secret_is_replayed_and_stored_encrypted(
    client: Client, database: Database, key: str, path: str, body: Any, member: str
) -> None:
    first = client.post(path, key, json=body, headers=KEY)
    again = client.post(path, key, json=body, headers=KEY)

    assert again.json()[member] == first.json()[member]
    assert again.headers["Cache-Control"] == "no-store"
    assert first.json()[member].encode() not in _stored(database)


def test_one_of_many_concurrent_requests_is_executed(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    responses: list[httpx.Response] = []
    clients = [Client(application(database)) for _ in range(8)]

    def send(client: Client) -> None:
        responses.append(client.post(DEPARTMENTS, key, json={"name": "Research"}, headers=KEY))
        client.close()

    at_once(*(partial(send, client) for client in clients))

    assert names(client, key) == ["Research"]
    bodies = {response.content for response in responses if response.status_code == 201}
    assert len(bodies) == 1
    assert {response.status_code for response in responses} <= {201, 409}
    busy = [response for response in responses if response.status_code == 409]
    assert all(response.json()["code"] == "idempotency_in_progress" for response in busy)
    assert all(int(response.headers["Retry-After"]) > 0 for response in busy)


def test_the_second_request_does_not_wait_on_postgresql(database: Database, acme: Acme) -> None:
    claim = Claim(
        organisation_id=acme.id, api_key_id=acme.id, idempotency_key="key", sha256="0" * 64
    )
    response = StoredResponse(status=200, headers=[(b"x-made", b"yes")], content=b'{"n": 1}')
    outcomes: list[Any] = []

    def second() -> None:
        try:
            outcomes.append(database.write_now(idempotency.begin, claim, now=NOW))
        except IdempotencyInProgress as refusal:
            outcomes.append(refusal.code)

    def first(tx: Transaction) -> threading.Thread:
        assert idempotency.begin(tx, claim, now=NOW) is None
        thread = threading.Thread(target=second)
        thread.start()
        # On SQLite the second can only begin once this has ended.
        thread.join(None if tx.engine == "postgresql" else 0.1)
        idempotency.store(tx, claim, response, now=NOW)
        return thread

    database.write_now(first).join()

    waited = [response] if database.engine == "sqlite" else ["idempotency_in_progress"]
    assert outcomes == waited
    assert database.read_now(idempotency.find, claim, now=NOW) == response


def test_a_refusal_never_replaces_a_success(database: Database, acme: Acme) -> None:
    claim = Claim(
        organisation_id=acme.id, api_key_id=acme.id, idempotency_key="key", sha256="0" * 64
    )
    success, refusal = (
        StoredResponse(status=201, headers=[], content=b"{}"),
        StoredResponse(status=409, headers=[], content=b'{"code": "in_use"}'),
    )
    database.write_now(idempotency.store, claim, success, now=NOW)

    answered = database.write_now(idempotency.store_error, claim, refusal, now=NOW)

    assert answered == success
    assert database.read_now(idempotency.find, claim, now=NOW) == success


def test_the_change_and_its_stored_response_roll_back_together(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    client.post(DEPARTMENTS, key, json={"name": "Research"}, headers=KEY)
    claim = _only_claim(database)
    others = replace(claim, idempotency_key="other")

    def change_and_fail(tx: Transaction) -> None:
        idempotency.begin(tx, others, now=NOW)
        idempotency.store(
            tx, others, StoredResponse(status=200, headers=[], content=b"{}"), now=NOW
        )
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError):
        database.write_now(change_and_fail)

    assert database.read_now(idempotency.find, others, now=NOW) is None


def _only_claim(database: Database) -> Claim:
    (row,) = database.read_now(lambda tx: tx.all(_claims))
    return Claim(
        organisation_id=row.organisation_id,
        api_key_id=row.api_key_id,
        idempotency_key=row.idempotency_key,
        sha256=row.request_sha256,
    )


def _stored(database: Database) -> bytes:
    return b"".join(bytes(row.body) for row in database.read_now(lambda tx: tx.all(_claims)))


@compiled
def _claims() -> Any:
    row = IdempotencyKeyRow
    return row.select(
        row.organisation_id, row.api_key_id, row.idempotency_key, row.request_sha256, row.body
    )
