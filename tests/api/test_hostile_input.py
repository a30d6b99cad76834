"""Nothing that a client can send breaks anything: on every field of every body and query, in every
path and header that is read.

The answer refuses and names the field, or the value is kept and shown unchanged. The fields come
from the route table, so a new one is covered as soon as it is there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

import httpx
import pytest

from api.http.operations import Operation
from api.service.app import OPERATIONS
from storage.base import texts
from storage.db.database import Database
from tests.api.conftest import Client
from tests.api.exercising import (
    REQUEST_ID,
    Things,
    body_of,
    call,
    fields_of,
    path_names,
    path_of,
    things,
)

pytestmark = [pytest.mark.both_engines, pytest.mark.slow]

# As JSON texts.
JSON_VALUES: Final = {
    "null": "null",
    "nul": r'"a\u0000b"',
    "four bytes": '"\U0001f9b7\U0001f3f4\U000e0067"',
    "right to left": '"\u202eabc\u202c \u05d0\u200f"',
    "zero width": '"\u200b\ufeff\u2060"',
    "separators": r'"a\u2028b\u2029c\u0085d"',
    "lone high surrogate": r'"\ud800"',
    "lone low surrogate": r'"\udc00x"',
    "escapes": r'"\b\f\n\r\t\u001f\u007f"',
    "long": json.dumps("é" * 10_000),
    "number as text": '"12"',
    "text that is no number": '"1e309"',
    "format string": '"%s%n{0}${x}"',
    "quotes": r'"\"\\' ' ; DROP TABLE users; --"',
    "mark-up": '"<!channel> <script>&amp;"',
    "empty": '""',
    "spaces": '"   "',
    "other spaces": '"\u00a0\u3000\u2003"',
    "true": "true",
    "zero": "0",
    "minus zero": "-0.0",
    "minus one": "-1",
    "half": "0.5",
    "many digits": "0.30000000000000004441",
    "just above": "12.500000000000001",
    "huge": "9" * 400,
    "beyond 64 bits": "18446744073709551616",
    "beyond 32 bits": "2147483648",
    "exponent": "1e400",
    "tiny": "1e-400",
    "not a number": "NaN",
    "infinity": "-Infinity",
    "list": "[]",
    "list of nulls": "[null, null]",
    "list of texts": '["a", "\\u0000"]',
    "long list": "[" + ",".join(['"monday"'] * 5_000) + "]",
    "object": "{}",
    "nested": '{"a": {"b": [1]}}',
    "deep": "[" * 100_000 + "]" * 100_000,
    "year 1": '"0001-01-01"',
    "year 9999": '"9999-12-31"',
    "no leap year": '"2026-02-29"',
    "leap year": '"2028-02-29"',
    "week date": '"2026-W01-1"',
    "date and time": '"2026-06-08T00:00:00Z"',
    "last instant": '"9999-12-31T23:59:59.999999-14:00"',
    "first instant": '"0001-01-01T00:00:00+14:00"',
    "unix time": "1780000000",
    "arabic digits": '"\u0662\u0660\u0662\u0666-\u0660\u0666-\u0660\u0668"',
    "lower-case never": '"0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"',
    "braces around an id": '"{0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11}"',
}
# No valid JSON, so only the whole body can be refused.
NOT_JSON: Final = {"not a number", "infinity", "lone high surrogate", "lone low surrogate", "deep"}

BODIES: Final = {
    "empty": b"",
    "space": b" \n",
    "byte order mark": b"\xef\xbb\xbf{}",
    "utf-16": '{"name": "a"}'.encode("utf-16"),
    "invalid utf-8": b'{"name": "\xff\xfe"}',
    "overlong": b'{"name": "\xc0\xaf"}',
    "cut off": b'{"name": "a',
    "two": b"{} {}",
    "null": b"null",
    "list": b"[]",
    "text": b'"{}"',
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 40_000,
    "comment": b"{} // end",
    "single quotes": b"{'name': 'a'}",
    "trailing comma": b'{"name": "a",}',
    "control character": b'{"name": "a\x01b"}',
    "nul": b"\0",
}
TEXTS: Final = {
    "empty": "",
    "space": " ",
    "nul": "\0",
    "four bytes": "\U0001f9b7",
    "right to left": "\u202eabc",
    "long": "x" * 5_000,
    "number": "7",
    "negative": "-1",
    "exponent": "1e3",
    "huge": "9" * 4_000,
    "fraction": "2026.0",
    "underscore": "2_026",
    "arabic digits": "\u0662\u0660\u0662\u0666",
    "not a number": "nan",
    "infinity": "inf",
    "null": "null",
    "true": "true",
    "yes": "yes",
    "quotes": "'\"; DROP TABLE users; --",
    "percent": "%25%00%zz",
    "year 1": "0001-01-01",
    "year 9999": "9999-12-31",
    "no leap year": "2026-02-29",
    "base64": "AAAA",
    "padded": "=" * 20,
    "json": '{"a":1}',
    "path": "../../etc/passwd",
    "controls": "a\r\nb\tc\x7f",
}
# Percent-encoded bytes that are no UTF-8, and broken escapes.
RAW_TEXTS: Final = {
    "invalid utf-8": "%ff%fe",
    "overlong": "%c0%af",
    "surrogate": "%ed%a0%80",
    "broken escape": "%",
    "half an escape": "%4",
    "plus": "+",
}
HEADERS: Final = (
    "Authorization",
    "X-Request-Id",
    "Idempotency-Key",
    "API-Variant",
    "If-Match",
    "If-None-Match",
    "Accept",
    "Accept-Encoding",
    "Content-Type",
)
HEADER_VALUES: Final = {
    "empty": b"",
    "space": b" ",
    "long": b"x" * 8_000,
    "high bytes": b"\xff\xfe\x80",
    "utf-8": "\U0001f9b7é".encode(),
    "quotes": b'"',
    "tags": b'W/"a", "b\\", *, ""',
    "star": b"*",
    "number": b"3",
    "commas": b",,,;;;q=",
    "bearer": b"Bearer ",
    "bearer of bytes": b"Bearer \xff\xff",
    "semicolons": b"application/json;;;charset=\xff",
}


OTHER_END: Final = {
    "start_date": "end_date",
    "end_date": "start_date",
    "start_half_day": "end_half_day",
    "end_half_day": "start_half_day",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    operation: Operation
    name: str

    def __str__(self) -> str:
        return f"{self.operation.operation_id}.{self.name}"


BODY_FIELDS: Final = [
    Field(operation=operation, name=name)
    for operation in OPERATIONS
    if operation.body is not None
    for name, _ in fields_of(operation.body)
]
QUERY_FIELDS: Final = [
    Field(operation=operation, name=name)
    for operation in OPERATIONS
    for name, _ in fields_of(operation.query)
]


def with_raw(body: dict[str, Any], name: str, raw: str) -> bytes:
    """The body as JSON, with the raw text as the value of one of its members."""
    others = {key: value for key, value in body.items() if key != name}
    members = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in others.items()]
    return ("{" + ", ".join([*members, f"{json.dumps(name)}: {raw}"]) + "}").encode()


def send(client: Client, there: Things, field: Field, raw: str) -> httpx.Response:
    operation = field.operation
    return client.request(
        operation.method,
        path_of(operation, there),
        key=there.key,
        headers={"Content-Type": "application/json"},
        content=with_raw(body_of(operation, there), field.name, raw),
    )


def fault(response: httpx.Response, field: Field, label: str) -> str | None:
    """The fault of a response to a hostile value; None if there is none."""
    if response.status_code >= 500:
        return f"{response.status_code}"
    if response.is_success:
        return None if is_unchanged(response, field, label) else f"changed: {response.text[:300]}"
    problem = response.json()
    if response.status_code == 400:
        return None if label in NOT_JSON else f"400: {problem['detail']}"
    if response.status_code in (403, 404, 409):
        return None
    if response.status_code != 422:
        return f"{response.status_code}: {problem['detail']}"
    if "errors" not in problem:
        return None  # A rule over several fields has a code of its own.
    # A rule over two fields may name the other one.
    names = {error["pointer"].split("/")[1] for error in problem["errors"]}
    if names & {field.name, OTHER_END.get(field.name)}:
        return None
    return f"names {names}: {problem['detail']}"


def is_unchanged(response: httpx.Response, field: Field, label: str) -> bool:
    # A credit has a reason of its own beside that of its decision.
    is_decision = field.operation.operation_id == "time_credits.decline"
    name = "decision_reason" if is_decision else field.name
    if not response.content or name not in response.json():
        return True
    sent, shown = json.loads(JSON_VALUES[label]), response.json()[name]
    if sent is None:
        # Null may select the organisation's value.
        return True
    if isinstance(sent, str) and texts.is_blank(sent):
        # A note without a visible character is stored as null, which the second shape shows as "".
        return shown in (None, "", sent.strip())
    if isinstance(sent, str) and isinstance(shown, str):
        # The space around a text is removed; short names of emoji are in lower case.
        return shown in (sent, sent.strip()) or (field.name, shown) == ("emoji", sent.lower())
    if field.name == "categories":
        return bool(shown == ["public", *sent])
    return bool(sent == shown)


@pytest.mark.parametrize("part", range(4))
def test_every_body_field_refuses_or_keeps_hostile_values(
    client: Client, database: Database, part: int
) -> None:
    faults = []
    for field in BODY_FIELDS[part::4]:
        there = things(client, database)
        for label, raw in JSON_VALUES.items():
            response = send(client, there, field, raw)
            if response.status_code == 409:
                # An earlier value of this test conflicts with it.
                there = things(client, database)
                response = send(client, there, field, raw)
            reason = fault(response, field, label)
            if reason is not None:
                faults.append((str(field), label, reason))

    assert faults == []


def test_every_body_must_be_an_object(client: Client, database: Database) -> None:
    there = things(client, database)

    faults = [
        (operation.operation_id, label, response.status_code)
        for operation in OPERATIONS
        if operation.body is not None
        for label, content in BODIES.items()
        for response in [sent_whole(client, there, operation, content)]
        if response.status_code not in (400, 422)
        # Of two decisions without a body, the second is a conflict.
        and not (label == "empty" and operation.is_body_optional and _is_done(response))
    ]

    assert faults == []


def _is_done(response: httpx.Response) -> bool:
    return response.is_success or response.status_code == 409


def sent_whole(
    client: Client, there: Things, operation: Operation, content: bytes
) -> httpx.Response:
    return client.request(
        operation.method,
        path_of(operation, there),
        key=there.key,
        headers={"Content-Type": "application/json"},
        content=content,
    )


def test_duplicate_members_are_refused(client: Client, database: Database) -> None:
    there = things(client, database)

    faults = []
    for field in BODY_FIELDS:
        body = body_of(field.operation, there)
        twice = json.dumps(field.name) + ": null, "
        content = b"{" + twice.encode() + with_raw(body, field.name, "null")[1:]
        response = sent_whole(client, there, field.operation, content)
        if response.status_code != 422 or f"/{field.name}" not in response.text:
            faults.append((str(field), response.status_code))

    assert faults == []


def test_every_query_parameter_refuses_or_accepts_hostile_values(
    client: Client, database: Database
) -> None:
    there = things(client, database)
    values = {label: quote(text, safe="") for label, text in TEXTS.items()} | RAW_TEXTS

    faults = []
    for field in QUERY_FIELDS:
        path = path_of(field.operation, there)
        for label, value in values.items():
            response = call(client, field.operation, there, path=f"{path}?{field.name}={value}")
            if query_fault(response, field):
                faults.append((str(field), label, response.status_code, response.text[:200]))

    assert faults == []


def query_fault(response: httpx.Response, field: Field) -> bool:
    if response.is_success or response.status_code in (403, 404, 409):
        return False
    if response.status_code == 400:
        return bool(response.json()["code"] != "invalid_cursor")
    pointers = [error["pointer"] for error in response.json().get("errors", ())]
    # A query that cannot be decoded has no parameter names.
    return response.status_code != 422 or pointers[0] not in (f"?{field.name}", "?")


def test_every_id_in_a_path_refuses_malformed_ids(client: Client, database: Database) -> None:
    there = things(client, database)
    values = {
        label: quote(text, safe="")
        for label, text in TEXTS.items()
        # An empty segment and dots make another path, which the client itself resolves.
        if text not in ("", "../../etc/passwd")
    }

    faults = [
        (operation.operation_id, name, label, response.status_code)
        for operation in OPERATIONS
        for name in path_names(operation)
        for label, value in (values | RAW_TEXTS).items()
        for response in [
            call(client, operation, there, path=path_of(operation, there, **{name: value}))
        ]
        if response.status_code != 404
    ]

    assert faults == []


def test_no_header_breaks_anything(client: Client, database: Database) -> None:
    there = things(client, database)
    calls = [operation for operation in OPERATIONS if operation.operation_id in HEADED]

    faults = [
        (operation.operation_id, name, label, response.status_code)
        for operation in calls
        for name in HEADERS
        for label, value in HEADER_VALUES.items()
        for response in [with_header(client, there, operation, name, value)]
        if response.status_code >= 500
        or (name == "Authorization" and response.status_code not in (401, 429))
    ]

    assert faults == []
    assert len(calls) == len(HEADED)


# One of each kind that reads a header: lists, variants, single resources, changes, creations.
HEADED: Final = (
    "users.list_all",
    "users.get",
    "users.update",
    "departments.create",
    "leave_requests.page",
    "calendar_feeds.create",
)


def with_header(
    client: Client, there: Things, operation: Operation, name: str, value: bytes
) -> httpx.Response:
    headers = {
        b"authorization": f"Bearer {there.key}".encode(),
        b"content-type": b"application/json",
        b"x-request-id": REQUEST_ID.encode(),
        name.lower().encode(): value,
    }
    body = body_of(operation, there)
    return client.request(
        operation.method,
        path_of(operation, there),
        headers=list(headers.items()),
        content=None if body is None else json.dumps(body).encode(),
    )


def hostile_cursors(real: str) -> Iterator[str]:
    yield from ("", "=", "A" * 1_000, "a" * 1_001, "\0", "é", "====", real[:-1], real + "A")
    yield real.swapcase()
    yield real[::-1]
    yield "A" + real[1:]


def test_every_list_refuses_foreign_cursors(client: Client, database: Database) -> None:
    there = things(client, database)
    lists = [
        operation
        for operation in OPERATIONS
        if "cursor" in {name for name, _ in fields_of(operation.query)}
    ]
    paged = client.get("/api/v1/audit?limit=1", there.key).json()["pagination"]["next_cursor"]

    faults = [
        (operation.operation_id, cursor[:20], response.status_code)
        for operation in lists
        for cursor in hostile_cursors(paged)
        for response in [call(client, operation, there, params={"cursor": cursor})]
        if response.status_code not in (400, 422)
    ]

    assert faults == []
    assert len(lists) >= 9
