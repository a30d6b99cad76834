"""The Python client of clients/python against the application, over HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from datetime import date, timedelta

import httpx
import pytest
import uvicorn
from hiatus_client import (
    Forbidden,
    Hiatus,
    Invalid,
    InvalidSignature,
    NoResponse,
    NotFound,
    RateLimited,
    Unauthenticated,
    updated_since,
    verified,
)
from standardwebhooks.webhooks import Webhook

from api.base.settings import ApiSettings
from api.service import app
from storage.base.values import User
from storage.db.database import Database
from tests import python_client
from tests.builders import NOW, Acme, a_key, a_person, a_request, an_organisation, type_id

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


class Server:
    """The application on a port of its own."""

    def __init__(self, database: Database, rate_limit: str) -> None:
        settings = ApiSettings(base_url="http://127.0.0.1", rate_limit=rate_limit)
        application = app.application(app.routes(database, settings, lambda: NOW), settings)
        config = uvicorn.Config(application, "127.0.0.1", 0, log_level="critical", lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        port = self._server.servers[0].sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join()


@pytest.fixture
def acme(database: Database) -> Acme:
    return an_organisation(database)


@pytest.fixture
def ada(database: Database, acme: Acme) -> User:
    return a_person(database, acme, first_name="Ada")


@pytest.fixture
def server(database: Database) -> Iterator[Server]:
    server = Server(database, "1000000/minute")
    yield server
    server.close()


@pytest.fixture
def hiatus(database: Database, acme: Acme, server: Server) -> Iterator[Hiatus]:
    with Hiatus(server.url, a_key(database, acme), sleep=lambda _: None) as hiatus:
        yield hiatus


class LosingResponses(httpx.HTTPTransport):
    """Sends every request, and loses the first ``lost`` responses."""

    def __init__(self, lost: int) -> None:
        super().__init__()
        self.lost = lost
        self.sent: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        response.read()
        self.sent.append(request)
        if len(self.sent) <= self.lost:
            raise httpx.ReadError("The connection broke.", request=request)
        return response


def monday(week: int) -> date:
    return date(2026, 9, 7) + timedelta(weeks=week)


def test_a_list_is_read_over_all_its_pages(
    database: Database, acme: Acme, ada: User, hiatus: Hiatus
) -> None:
    requests = [
        a_request(database, acme, ada, start_date=monday(week), now=NOW + timedelta(minutes=week))
        for week in range(5)
    ]

    pages = hiatus.leave_requests.pages("/leave-requests", {"limit": 2, "expand": ["user"]})
    shown = [(leave["id"], leave["user"]["first_name"]) for leave in pages]

    assert shown == [(request.id, "Ada") for request in reversed(requests)]
    changed = updated_since(NOW + timedelta(minutes=8))
    assert [each["id"] for each in hiatus.leave_requests.each(updated_since=changed)] == [
        request.id for request in requests[3:]
    ]


def test_people_are_full_records_for_keys_of_either_variant(
    database: Database, acme: Acme, ada: User, server: Server
) -> None:
    for variant in (1, 2):
        key = a_key(database, acme, variant=variant)
        with Hiatus(server.url, key) as hiatus:
            people = {person["id"]: person["is_active"] for person in hiatus.people()}
        assert people == {acme.owner.id: True, ada.id: True}


def test_a_request_whose_response_was_lost_is_booked_once(
    database: Database, acme: Acme, ada: User, server: Server
) -> None:
    transport = LosingResponses(lost=2)
    key = a_key(database, acme, ada)
    with httpx.Client(transport=transport) as http:
        hiatus = Hiatus(server.url, key, http=http, sleep=lambda _: None)
        booked = hiatus.leave_requests.create(
            {
                "leave_type_id": type_id(database, acme),
                "start_date": "2026-09-07",
                "end_date": "2026-09-08",
            }
        )
        listed = [leave["id"] for leave in hiatus.leave_requests.each()]

    assert listed == [booked["id"]]
    keys = {request.headers["Idempotency-Key"] for request in transport.sent[:3]}
    assert len(keys) == 1


def test_a_deletion_whose_response_was_lost_is_not_repeated(
    database: Database, acme: Acme, server: Server
) -> None:
    transport = LosingResponses(lost=0)
    key = a_key(database, acme)
    with httpx.Client(transport=transport) as http:
        hiatus = Hiatus(server.url, key, http=http, sleep=lambda _: None)
        department = hiatus.departments.create({"name": "Research"})
        transport.lost = 9

        with pytest.raises(NoResponse):
            hiatus.departments.delete(department["id"])

    assert [request.method for request in transport.sent] == ["POST", "DELETE"]


def test_a_rate_limit_is_waited_for_and_then_raised(database: Database, acme: Acme) -> None:
    server = Server(database, "2/minute")
    waits: list[float] = []
    with Hiatus(server.url, a_key(database, acme), retries=2, sleep=waits.append) as hiatus:
        for _ in range(2):
            hiatus.me.get()
        with pytest.raises(RateLimited) as refused:
            hiatus.me.get()
    server.close()

    assert refused.value.code == "rate_limited"
    assert len(waits) == 2
    # What Retry-After says, which is more than the first pauses.
    assert all(2 < seconds <= 60 for seconds in waits)


def test_refusals_are_types_with_a_code(
    database: Database, acme: Acme, ada: User, hiatus: Hiatus, server: Server
) -> None:
    with pytest.raises(NotFound) as missing:
        hiatus.leave_requests.get("0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11")
    with pytest.raises(Invalid) as invalid:
        hiatus.departments.create({"name": ""})
    with (
        Hiatus(server.url, a_key(database, acme, ada)) as member,
        pytest.raises(Forbidden) as forbidden,
    ):
        member.departments.create({"name": "Research"})
    with Hiatus(server.url, "hiatus_sk_live_x") as stranger, pytest.raises(Unauthenticated):
        stranger.me.get()

    assert missing.value.code == "not_found"
    assert missing.value.request_id
    assert [(error.pointer, error.code) for error in invalid.value.errors] == [
        ("/name", "too_short")
    ]
    assert forbidden.value.code == "insufficient_role"


def test_a_dry_run_changes_nothing(
    database: Database, acme: Acme, ada: User, hiatus: Hiatus
) -> None:
    effects = hiatus.users.dry_run_archive(ada.id)

    assert effects["dry_run"] is True
    assert hiatus.users.get(ada.id)["status"] == "active"


def test_a_file_is_imported_once_however_often_it_is_sent(
    database: Database, acme: Acme, server: Server
) -> None:
    transport = LosingResponses(lost=1)
    file = b"email,name\nnew@example.com,Nina New\n"
    with httpx.Client(transport=transport) as http:
        hiatus = Hiatus(server.url, a_key(database, acme), http=http, sleep=lambda _: None)
        imported = hiatus.imports.run(file, update=True, idempotency_key="monday")
    # As after a restart of the program.
    with Hiatus(server.url, a_key(database, acme)) as hiatus:
        dry_run = hiatus.imports.dry_run(file, update=True)
        emails = [person["email"] for person in hiatus.people()]

    assert (imported["people_created"], dry_run["people_created"]) == (1, 0)
    assert emails.count("new@example.com") == 1
    first, again = (request.read() for request in transport.sent)
    assert first == again
    assert b'name="update"\r\n\r\ntrue' in first


def test_a_server_that_is_not_there_is_no_response() -> None:
    with (
        Hiatus("http://127.0.0.1:9", "key", sleep=lambda _: None) as hiatus,
        pytest.raises(NoResponse),
    ):
        hiatus.me.get()


def signed(body: str, secret: str = SECRET) -> dict[str, str]:
    """Headers as the reference library of Standard Webhooks signs them."""
    return {
        "Webhook-Id": "msg_1",
        "Webhook-Timestamp": str(int(NOW.timestamp())),
        "Webhook-Signature": f"v1,AAAA {Webhook(secret).sign('msg_1', NOW, body)}",
    }


def test_a_signed_webhook_is_read() -> None:
    body = json.dumps({"type": "ping", "data": {"webhook_id": "1"}})

    event = verified(body.encode(), signed(body), SECRET, now_seconds=NOW.timestamp())

    assert event["type"] == "ping"


@pytest.mark.parametrize("what", ["body", "secret", "time", "header"])
def test_a_forged_or_old_webhook_is_refused(what: str) -> None:
    body = json.dumps({"type": "ping", "data": {}})
    headers = signed(body)
    sent, secret, now = body.encode(), SECRET, NOW.timestamp()
    if what == "body":
        sent += b" "
    elif what == "secret":
        secret = "whsec_AAAA9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    elif what == "time":
        now += 301
    else:
        del headers["Webhook-Signature"]

    with pytest.raises(InvalidSignature):
        verified(sent, headers, secret, now_seconds=now)


def test_the_generated_modules_are_up_to_date() -> None:
    written = {
        name: (python_client.PACKAGE / name).read_text(encoding="utf-8")
        for name in ("models.py", "operations.py")
    }

    assert written == python_client.files(), "Run `make client`."
