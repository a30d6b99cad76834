"""`Idempotency-Key`: a request that is sent again changes nothing and is answered as before."""

from __future__ import annotations

import threading
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from api.http.idempotency import HEADER
from api.service import app
from storage.access import api_keys, idempotency
from storage.access.idempotency import Claim, IdempotencyInProgress, StoredResponse
from storage.base.secrets import Secrets
from storage.db.compiled import compiled
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.db.pages import PageOf
from storage.db.tables import IdempotencyKeyRow
from storage.events import audit_log
from tests.api.conftest import Client, a_key, application
from tests.builders import NOW, Acme, a_department, a_person, an_organisation, type_id

pytestmark = pytest.mark.both_engines

DEPARTMENTS = "/api/v1/departments"
KEY = {"Idempotency-Key": "3f0b7c1e-5d0c-4c8e-9a52-7c1e6a3d9b20"}
# What may differ between an answer and its replay.
_OF_THIS_ANSWER = {"x-request-id", "ratelimit", "idempotent-replayed"}


@pytest.fixture
def acme(database: Database) -> Acme:
    return an_organisation(database)


@pytest.fixture
def key(database: Database, acme: Acme) -> str:
    return a_key(database, acme)


def shown(answer: httpx.Response) -> tuple[int, bytes, dict[str, str]]:
    headers = {name: value for name, value in answer.headers.items() if name not in _OF_THIS_ANSWER}
    return answer.status_code, answer.content, headers


def names(client: Client, key: str) -> list[str]:
    return [one["name"] for one in client.get(DEPARTMENTS, key).json()["data"]]


def test_the_first_answer_is_replayed(client: Client, key: str) -> None:
    first = client.post(DEPARTMENTS, key, json={"name": "Research"}, headers=KEY)
    again = client.post(DEPARTMENTS, key, json={"name": "Research"}, headers=KEY)

    assert first.status_code == 201
    assert "Idempotent-Replayed" not in first.headers
    assert again.headers["Idempotent-Replayed"] == "true"
    assert shown(again) == shown(first)
    assert client.get(first.headers["Location"], key).content == first.content
    assert names(client, key) == ["Research"]


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (DEPARTMENTS, {"name": "Research"}, 201),
        ("/api/v1/webhooks", {"url": "https://hook.invalid/", "events": ["*"]}, 201),
        (DEPARTMENTS, {"name": "Sales"}, 409),
    ],
    ids=["created", "with a secret in the answer", "refused by a rule"],
)
def test_an_answer_that_no_secret_key_reads_is_refused_and_nothing_is_done_again(
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
    for answer in again:
        assert answer.status_code == 409
        assert answer.json()["code"] == "idempotency_answer_unreadable"
        assert f"answered with status {status}" in answer.json()["detail"]
    # Once what was there before, and what the first request made.
    assert len(listed) == (path == DEPARTMENTS) + (status == 201)


def test_without_a_key_a_request_is_a_new_one(client: Client, key: str) -> None:
    answers = [client.post(DEPARTMENTS, key, json={"name": "Research"}) for _ in range(2)]

    # The second one is not the first again, so its name is taken.
    assert [answer.status_code for answer in answers] == [201, 409]
    assert not any("Idempotent-Replayed" in answer.headers for answer in answers)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (DEPARTMENTS, b'{"name": "Sales"}'),
        (DEPARTMENTS, b'{"name":"Research"}'),
        ("/api/v1/leave-types", b'{"name": "Research"}'),
    ],
    ids=["other body", "other bytes", "other path"],
)
def test_a_key_that_came_with_another_request_is_refused(
    client: Client, key: str, path: str, body: bytes
) -> None:
    headers = {**KEY, "Content-Type": "application/json"}
    client.post(DEPARTMENTS, key, content=b'{"name": "Research"}', headers=headers)

    answer = client.post(path, key, content=body, headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert names(client, key) == ["Research"]


def test_keys_of_two_api_keys_have_nothing_to_do_with_each_other(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    other = a_key(database, acme)

    for used, name in ((key, "Research"), (other, "Sales")):
        answer = client.post(DEPARTMENTS, used, json={"name": name}, headers=KEY)
        assert answer.status_code == 201

    assert names(client, key) == ["Research", "Sales"]


def test_a_rules_refusal_is_the_first_answer_too(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    body = {
        "leave_type_id": type_id(database, acme, "unpaid"),
        "start_date": "2026-08-03",
        "end_date": "2026-08-03",
    }
    taken = client.post("/api/v1/leave-requests", key, json=body).json()["id"]

    refused = client.post("/api/v1/leave-requests", key, json=body, headers=KEY)
    client.post(f"/api/v1/leave-requests/{taken}/cancel", key)
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

    answer = client.post(DEPARTMENTS, key, json={"name": "Research"}, headers=headers)

    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.json()["errors"]] == ["Idempotency-Key"]
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
    kept = database.read_now(idempotency.find, claim, now=late)
    assert kept is not None
    assert kept.content == b"{}"


def test_old_answers_are_pruned_in_batches(client: Client, database: Database, key: str) -> None:
    for number in range(3):
        headers = {"Idempotency-Key": f"number {number}"}
        client.post(DEPARTMENTS, key, json={"name": "Research"}, headers=headers)

    def prune(hours: int) -> int:
        now = NOW + timedelta(hours=hours)
        return database.write_now(idempotency.prune, now=now, limit=2)

    assert [prune(23), prune(24), prune(24), prune(24)] == [0, 2, 1, 0]


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


def test_one_of_many_at_once_changes_something(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    answers: list[httpx.Response] = []
    barrier = threading.Barrier(8)

    def send() -> None:
        own = Client(application(database))
        barrier.wait(30)
        answers.append(own.post(DEPARTMENTS, key, json={"name": "Research"}, headers=KEY))
        own.close()

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert names(client, key) == ["Research"]
    bodies = {answer.content for answer in answers if answer.status_code == 201}
    assert len(bodies) == 1
    assert {answer.status_code for answer in answers} <= {201, 409}
    busy = [answer for answer in answers if answer.status_code == 409]
    assert all(answer.json()["code"] == "idempotency_in_progress" for answer in busy)
    assert all(int(answer.headers["Retry-After"]) > 0 for answer in busy)


def test_the_second_request_does_not_wait_on_postgresql(database: Database, acme: Acme) -> None:
    claim = Claim(
        organisation_id=acme.id, api_key_id=acme.id, idempotency_key="key", sha256="0" * 64
    )
    answer = StoredResponse(status=200, headers=[(b"x-made", b"yes")], content=b'{"n": 1}')
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
        idempotency.store(tx, claim, answer, now=NOW)
        return thread

    database.write_now(first).join()

    waited = [answer] if database.engine == "sqlite" else ["idempotency_in_progress"]
    assert outcomes == waited
    assert database.read_now(idempotency.find, claim, now=NOW) == answer


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


def test_the_change_and_its_answer_are_undone_together(
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


def test_every_post_takes_the_header_and_nothing_else_does() -> None:
    for one in app.OPERATIONS:
        assert (HEADER in one.header_parameters) == (one.method == "POST"), one.operation_id


def test_a_replay_is_not_audited(client: Client, database: Database, acme: Acme, key: str) -> None:
    for _ in range(3):
        client.post(DEPARTMENTS, key, json={"name": "Research"}, headers=KEY)

    found = database.read_now(
        audit_log.entries, PageOf(), by=acme.caller, action="department.created"
    )
    assert len(found.items) == 1


def test_a_revoked_keys_answers_are_gone_with_it(
    client: Client, database: Database, acme: Acme, key: str
) -> None:
    client.post(DEPARTMENTS, key, json={"name": "Research"}, headers=KEY)
    api_key = database.read_now(api_keys.page, PageOf(), by=acme.caller).items[0]
    database.write_now(api_keys.revoke, api_key.id, by=acme.caller, now=NOW)

    again = client.post(DEPARTMENTS, key, json={"name": "Research"}, headers=KEY)

    assert again.status_code == 401


def _only_claim(database: Database) -> Claim:
    (found,) = database.read_now(lambda tx: tx.all(_claims))
    return Claim(
        organisation_id=found.organisation_id,
        api_key_id=found.api_key_id,
        idempotency_key=found.idempotency_key,
        sha256=found.request_sha256,
    )


def _stored(database: Database) -> bytes:
    return b"".join(bytes(row.body) for row in database.read_now(lambda tx: tx.all(_claims)))


@compiled
def _claims() -> Any:
    row = IdempotencyKeyRow
    return row.select(
        row.organisation_id, row.api_key_id, row.idempotency_key, row.request_sha256, row.body
    )
