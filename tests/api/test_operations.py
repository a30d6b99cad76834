"""How every operation is served, tested with operations made for the purpose."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, cast

import httpx
import pytest
from structlog.testing import capture_logs
from typing_extensions import TypedDict

from api.documentation import openapi
from api.http import endpoints
from api.http.endpoints import record_use
from api.http.fields import ABSENT, MAX_BODY_BYTES, Body, Day, Name, Paged, Uuid
from api.http.operations import (
    Created,
    Deprecation,
    Method,
    RequestContext,
    Services,
    Tag,
    operation,
)
from api.service import app
from storage.base.errors import DatabaseUnavailable, NotFound, SchemaOutOfDate
from storage.base.values import Id
from storage.db.database import Database, Transaction
from storage.db.engines import open_database
from storage.db.pages import PageOf
from storage.keys import api_keys, authentication
from tests.api.conftest import SETTINGS, Client
from tests.builders import NOW, Acme, a_key, a_person

pytestmark = pytest.mark.shared_database

PATH = "/api/v1/things"
ID = "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"


class Thing(Body):
    count: int = ABSENT
    on: Day | None = ABSENT
    owner_id: Uuid = ABSENT
    tags: list[str] = ABSENT
    name: Name = ABSENT
    weight: float = ABSENT


class EchoRecord(TypedDict, total=False):
    count: int
    tags: list[str]


class IdRecord(TypedDict):
    id: Id


class Things(Paged):
    owner_id: Uuid | None = None


def an_operation(method: Method, path: str, **more: Any) -> operation:
    return operation(method, path, tag=Tag("Things", "For tests.", "leave"), **more)


@an_operation("GET", "/things")
def page(tx: Transaction, context: RequestContext, query: Things) -> dict[str, object]:
    return {"limit": query.limit, "owner_id": query.owner_id}


@an_operation("POST", "/things", role="admin")
def echo(tx: Transaction, context: RequestContext, body: Thing) -> Created[EchoRecord]:
    return Created(body=cast(EchoRecord, body.sent()), headers=[(b"x-made", b"yes")])


@an_operation("GET", "/things/{id}", kind="thing", is_resource=True)
def get(tx: Transaction, context: RequestContext) -> IdRecord:
    if context.id != ID:
        raise NotFound("thing")
    return {"id": context.id}


@an_operation(
    "GET",
    "/things/old",
    deprecation=Deprecation(
        deprecated_at=datetime(2027, 1, 1, tzinfo=UTC),
        sunset_at=datetime(2027, 7, 1, tzinfo=UTC),
        link="https://hiatus.test/docs",
    ),
)
def old(tx: Transaction, context: RequestContext) -> IdRecord:
    """Read an old thing.

    Read `/things` instead.
    """
    return {"id": ID}


@an_operation("DELETE", "/things/{id}")
def forget(tx: Transaction, context: RequestContext) -> None:
    return None


@an_operation("GET", "/things/broken")
def break_down(tx: Transaction, context: RequestContext) -> None:
    raise RuntimeError("SELECT secret FROM things")


@an_operation("GET", "/things/lost")
def lose_database(tx: Transaction, context: RequestContext) -> None:
    raise DatabaseUnavailable("host db.internal is gone")


@an_operation("GET", "/things/behind")
def fall_behind(tx: Transaction, context: RequestContext) -> None:
    raise SchemaOutOfDate("db.internal lacks 0007")


OPERATIONS = (page, echo, get, old, forget, break_down, lose_database, fall_behind)


@pytest.fixture
def client(database: Database) -> Iterator[Client]:
    services = Services(
        database=database,
        clock=lambda: NOW,
        base_url=SETTINGS.base_url,
        allow_private_webhooks=False,
    )
    client = Client(app.application(endpoints.routes(OPERATIONS, services), SETTINGS))
    yield client
    client.close()


def code(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["code"]


def field_errors(response: httpx.Response) -> list[tuple[str, str]]:
    assert response.status_code == 422
    return [(error["pointer"], error["code"]) for error in response.json()["errors"]]


def test_a_refusal_is_a_problem_with_a_stable_code(client: Client) -> None:
    response = client.get(PATH, headers={"X-Request-Id": "trace-7"})

    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert response.headers["X-Request-Id"] == "trace-7"
    problem = response.json()
    assert problem["type"] == "https://hiatus.test/docs/errors#unauthenticated"
    assert problem["status"] == response.status_code == 401
    assert problem["request_id"] == "trace-7"
    assert problem["title"]
    assert problem["detail"]


@pytest.mark.parametrize(
    "mangle",
    [
        lambda key: "",
        lambda key: key,
        lambda key: f"Basic {key}",
        lambda key: f"Bearer {key} {key}",
        lambda key: f"Bearer {key[:-1]}",
        lambda key: f"Bearer {key[:-7]}{'0' if key[-7] != '0' else '1'}{key[-6:]}",
        lambda key: "Bearer hiatus_sk_live_" + "0" * 49,
        lambda key: "Bearer " + "x" * 10_000,
    ],
    ids=["empty", "bare", "basic", "two", "short", "altered", "unknown", "long"],
)
def test_a_key_that_cannot_be_used_is_401(
    client: Client, key: str, mangle: Callable[[str], str]
) -> None:
    response = client.get(PATH, headers={"Authorization": mangle(key)})

    assert code(response) == (401, "unauthenticated")
    assert response.headers["WWW-Authenticate"] == "Bearer"


def test_the_scheme_may_be_written_in_any_case(client: Client, key: str) -> None:
    assert client.get(PATH, headers={"Authorization": f"bEARER {key}"}).status_code == 200


def test_two_authorization_headers_are_401(client: Client, key: str) -> None:
    twice = [("Authorization", f"Bearer {key}"), ("Authorization", f"Bearer {key}")]

    assert client.get(PATH, headers=twice).status_code == 401


def test_a_missing_scope_is_named_before_a_missing_role(
    client: Client, database: Database, acme: Acme
) -> None:
    ada = a_person(database, acme)
    reader = a_key(database, acme, ada, scopes=["leave:read"])
    writer = a_key(database, acme, ada, scopes=["leave:write"])

    unscoped = client.post(PATH, reader, content=b"{")
    unranked = client.post(PATH, writer, content=b"{")

    assert code(unscoped) == (403, "insufficient_scope")
    assert unscoped.json()["missing_scope"] == "leave:write"
    assert code(unranked) == (403, "insufficient_role")
    assert client.get(PATH, writer).status_code == 200


@pytest.mark.parametrize(
    ("query", "limit"),
    [
        ("", 25),
        ("?limit=1", 1),
        ("?limit=100", 100),
        ("?limit=101", 100),
        ("?limit=" + "9" * 18, 100),
        ("?limit=" + "9" * 5_000, 100),
        ("?limit=0007", 7),
    ],
)
def test_a_page_holds_at_most_100(client: Client, key: str, query: str, limit: int) -> None:
    assert client.get(PATH + query, key).json()["limit"] == limit


@pytest.mark.parametrize("limit", ["0", "000", "-1", "-99999", "abc", "", "1.5", "1e2", " 5", "٣"])
def test_a_limit_below_one_or_no_number_is_refused(client: Client, key: str, limit: str) -> None:
    response = client.get(PATH, key, params={"limit": limit})

    assert [pointer for pointer, _ in field_errors(response)] == ["?limit"]


def test_unknown_and_repeated_parameters_are_refused(client: Client, key: str) -> None:
    unknown = client.get(f"{PATH}?ownr_id={ID}", key)
    repeated = client.get(f"{PATH}?limit=1&limit=2", key)

    assert field_errors(unknown) == [("?ownr_id", "unknown_parameter")]
    assert field_errors(repeated) == [("?limit", "repeated_parameter")]
    assert client.get(f"{PATH}/{ID}?verbose=1", key).status_code == 422
    assert client.get(f"{PATH}?owner_id=%ff", key).status_code == 422


def test_ids_are_read_in_either_case(client: Client, key: str) -> None:
    assert client.get(f"{PATH}?owner_id={ID.upper()}", key).json()["owner_id"] == ID
    assert client.get(f"{PATH}/{ID.upper()}", key).json() == {"id": ID}


def test_a_malformed_id_is_not_found_like_an_unknown_one(client: Client, key: str) -> None:
    headers = {"X-Request-Id": "same"}
    unknown = client.get(f"{PATH}/{ID[:-1]}0", key, headers=headers)

    for text in ("1", "me", ID + "0", "%00", "x" * 3_000):
        response = client.get(f"{PATH}/{text}", key, headers=headers)
        assert (response.status_code, response.content) == (404, unknown.content)


@pytest.mark.parametrize("content", [b"", b"{", b"{'count': 1}", b"\xff", b'{"tags": ["\\ud800"]}'])
def test_an_unreadable_body_is_400(client: Client, key: str, content: bytes) -> None:
    response = client.post(PATH, key, content=content, headers={"Content-Type": "application/json"})

    assert code(response) == (400, "invalid_json")


def test_another_media_type_is_415(client: Client, key: str) -> None:
    form = client.post(PATH, key, data={"count": "1"})
    spelled_out = {"Content-Type": "Application/JSON; charset=utf-8"}

    assert code(form) == (415, "unsupported_media_type")
    assert client.post(PATH, key, content=b"{}", headers=spelled_out).status_code == 201


def test_a_body_without_a_media_type_is_json(client: Client, key: str) -> None:
    assert client.post(PATH, key, content=b"{}").status_code == 201
    assert code(client.post(PATH, key, content=b"a=1")) == (400, "invalid_json")


def test_a_body_over_256_kib_is_413_with_or_without_a_length(client: Client, key: str) -> None:
    async def chunks() -> Any:
        for _ in range(MAX_BODY_BYTES // 1024 + 1):
            yield b" " * 1024

    headers = {"Content-Type": "application/json"}
    declared = client.post(PATH, key, content=b" " * (MAX_BODY_BYTES + 1), headers=headers)
    chunked = client.post(PATH, key, content=chunks(), headers=headers)

    assert code(declared) == (413, "body_too_large")
    assert code(chunked) == (413, "body_too_large")


def test_fields_are_refused_with_pointers_and_codes(client: Client, key: str) -> None:
    body = {"count": "3", "on": "2026-02-30", "owner_id": "me", "tags": ["a", 7], "a/b": 1}

    assert sorted(field_errors(client.post(PATH, key, json=body))) == [
        ("/a~1b", "unknown_field"),
        ("/count", "wrong_type"),
        ("/on", "invalid_date"),
        ("/owner_id", "not_a_uuid"),
        ("/tags/1", "wrong_type"),
    ]


@pytest.mark.parametrize("body", [{"count": None}, {"count": 1.5}, {"count": True}, [], "text"])
def test_values_of_another_type_are_refused(client: Client, key: str, body: Any) -> None:
    assert client.post(PATH, key, json=body).status_code == 422


@pytest.mark.parametrize(
    ("name", "refused_as"),
    [("", "too_short"), ("  ", "too_short"), ("x" * 201, "too_long"), ("a\0b", "contains_nul")],
)
def test_texts_are_bounded_and_free_of_nul(
    client: Client, key: str, name: str, refused_as: str
) -> None:
    assert field_errors(client.post(PATH, key, json={"name": name})) == [("/name", refused_as)]


def test_null_differs_from_an_absent_field(client: Client, key: str) -> None:
    assert client.post(PATH, key, json={"on": None}).json() == {"on": None}
    assert client.post(PATH, key, json={}).json() == {}


def test_a_result_sets_status_and_headers(client: Client, key: str) -> None:
    response = client.post(PATH, key, json={})

    assert response.status_code == 201
    assert response.headers["X-Made"] == "yes"
    assert response.headers["Content-Type"] == "application/json"


def test_a_deprecated_operation_says_since_when_and_until_when(client: Client, key: str) -> None:
    response = client.get(f"{PATH}/old", key)
    document = json.loads(openapi.document([get, old], {}, "https://hiatus.test"))

    assert response.json() == {"id": ID}
    assert response.headers["Deprecation"] == "@1798761600"
    assert response.headers["Sunset"] == "Thu, 01 Jul 2027 00:00:00 GMT"
    assert response.headers["Link"] == (
        '<https://hiatus.test/docs>; rel="deprecation"; type="text/html"'
    )
    described = document["paths"]["/api/v1/things/old"]["get"]
    assert described["deprecated"] is True
    assert {"Deprecation", "Sunset"} <= described["responses"]["200"]["headers"].keys()


def test_other_operations_are_not_deprecated(client: Client, key: str) -> None:
    assert "Deprecation" not in client.get(PATH, key).headers


def test_a_date_has_one_format(client: Client, key: str) -> None:
    for text in ("20260803", "2026-W32-1", "2026-08-03T00:00:00", "1785715200", "03/08/2026"):
        assert field_errors(client.post(PATH, key, json={"on": text})) == [("/on", "invalid_date")]


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"1e999"])
def test_a_number_is_finite(client: Client, key: str, number: bytes) -> None:
    headers = {"Content-Type": "application/json"}

    response = client.post(PATH, key, content=b'{"weight": %s}' % number, headers=headers)

    assert field_errors(response) == [("/weight", "out_of_range")]


def test_204_has_no_body(client: Client, key: str) -> None:
    response = client.delete(f"{PATH}/{ID}", key)

    assert (response.status_code, response.content) == (204, b"")
    assert "Content-Type" not in response.headers


def test_an_unexpected_error_reveals_nothing(client: Client, key: str) -> None:
    response = client.get(f"{PATH}/broken", key, headers={"X-Request-Id": "trace-9"})

    assert code(response) == (500, "internal_error")
    assert response.headers["X-Request-Id"] == "trace-9"
    assert "SELECT" not in response.text
    assert "RuntimeError" not in response.text


@pytest.mark.both_engines
@pytest.mark.parametrize("path", ["lost", "behind"])
def test_a_lost_database_is_503_with_retry_after(client: Client, key: str, path: str) -> None:
    response = client.get(f"{PATH}/{path}", key)

    assert code(response) == (503, "unavailable")
    assert int(response.headers["Retry-After"]) > 0
    assert "db.internal" not in response.text


@pytest.mark.both_engines
def test_the_log_has_the_reason_for_a_503(client: Client, key: str) -> None:
    with capture_logs() as logs:
        client.get(f"{PATH}/lost", key, headers={"X-Request-Id": "trace-7"})

    (entry,) = [log_entry for log_entry in logs if log_entry["event"] == "request unavailable"]
    assert entry["log_level"] == "warning"
    assert (entry["request_id"], entry["reason"]) == ("trace-7", "host db.internal is gone")


@pytest.mark.both_engines
def test_the_use_of_a_key_is_recorded_to_the_minute(
    client: Client, database: Database, acme: Acme
) -> None:
    secret = a_key(database, acme, scopes=["leave:read"])

    client.get(PATH, secret)

    keys = acme.read(api_keys.page, PageOf()).items
    assert [key.last_used_at for key in keys] == [NOW]


def test_a_use_that_cannot_be_recorded_is_no_error(
    database_url: str, database: Database, acme: Acme
) -> None:
    secret = a_key(database, acme)
    authenticated = database.read_now(authentication.authenticate, secret, now=NOW)
    closed = open_database(database_url, database.secrets)
    closed.close()

    with capture_logs() as logs:
        asyncio.run(record_use(closed, authenticated, NOW))

    assert [entry["event"] for entry in logs] == ["key use not recorded"]


def test_an_unknown_name_gets_a_suggestion(client: Client, key: str) -> None:
    def sentence(response: httpx.Response) -> str:
        detail: str = response.json()["errors"][0]["detail"]
        return detail

    near = client.get(f"{PATH}?owner=1", key)
    far = client.post(PATH, key, json={"xyz": 1})

    assert sentence(near) == "There is no parameter owner. Did you mean owner_id?"
    assert (
        sentence(far)
        == "There is no field xyz. Available: count, on, owner_id, tags, name, weight."
    )


def test_the_detail_of_several_problems_names_each_field(client: Client, key: str) -> None:
    response = client.post(PATH, key, json={"on": "2026-02-30", "owner": "x", "owner_id": "x"})

    assert response.json()["code"] == "invalid_input"
    assert response.json()["detail"] == (
        "on must be a date that exists, as YYYY-MM-DD. "
        "owner_id must be an id, which is a UUID. "
        "There is no field owner. Did you mean owner_id?"
    )


def misspelt(tx: Transaction, context: RequestContext, boddy: Thing) -> None:
    return None


def without_result(tx: Transaction, context: RequestContext):  # type: ignore[no-untyped-def]
    return None


@pytest.mark.parametrize("handler", [misspelt, without_result])
def test_a_handler_with_an_unknown_parameter_is_rejected(
    handler: Callable[..., object],
) -> None:
    with pytest.raises(TypeError, match=handler.__name__):
        an_operation("POST", "/things")(handler)
