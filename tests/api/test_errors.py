from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.routing import Match
from starlette.types import Receive, Scope, Send
from structlog.testing import capture_logs

from api.http.errors import STATUS, extension_members, status_of
from api.http.field_errors import refusal_of
from api.service.app import OPERATIONS
from storage.base.errors import (
    FieldError,
    InsufficientAllowance,
    InsufficientScope,
    InvalidInput,
    InvalidTransition,
    OverlappingLeave,
)
from storage.db.database import Database
from tests import outside
from tests.api.conftest import Client, application
from tests.builders import a_key, an_organisation
from tests.raised_codes import every_refusal

pytestmark = pytest.mark.both_engines


def test_every_refusal_has_a_status() -> None:
    statuses = {kind: status_of(kind) for kind in every_refusal()}

    assert set(STATUS) <= set(statuses)
    assert set(statuses.values()) == {400, 401, 403, 404, 409, 422}


def test_codes_of_refusals_are_unique() -> None:
    codes = [kind.code for kind in every_refusal()]

    assert len(codes) == len(set(codes))


def test_a_single_field_error_gives_the_problem_its_code() -> None:
    single = InvalidInput.of("end_date", "end_before_start", "It ends first.")
    several = InvalidInput(
        [
            FieldError(pointer="/a", code="x", detail="…"),
            FieldError(pointer="/b", code="y", detail="…"),
        ]
    )

    assert single.code == "end_before_start"
    assert several.code == "invalid_input"
    assert extension_members(single) == {
        "errors": (
            FieldError(pointer="/end_date", code="end_before_start", detail="It ends first."),
        )
    }


def test_refusals_have_machine_readable_members() -> None:
    assert extension_members(InsufficientAllowance(5, 6, "2026")) == {
        "remaining_days": 2.5,
        "needed_days": 3,
        "leave_year": "2026",
    }
    overlapping = OverlappingLeave("7", date(2026, 5, 1), date(2026, 5, 1))
    assert extension_members(overlapping) == {"leave_request_id": "7"}
    assert extension_members(InvalidTransition("approved", "declined")) == {
        "leave_status": "declined"
    }
    assert extension_members(InsufficientScope("leave:write")) == {"missing_scope": "leave:write"}


def test_a_wrong_sql_statement_is_500_with_a_traceback(
    client: Client, database: Database, database_url: str
) -> None:
    key = a_key(database, an_organisation(database))
    outside.run(database_url, "ALTER TABLE departments RENAME TO departments_away")

    with capture_logs() as logs:
        responses = [
            client.get("/api/v1/departments", key),
            client.post("/api/v1/departments", key, json={"name": "Design"}),
        ]

    assert [response.json()["code"] for response in responses] == ["internal_error"] * 2
    failed = [log_entry for log_entry in logs if log_entry["event"] == "request failed"]
    assert len(failed) == 2
    assert all(log_entry["exc_info"] for log_entry in failed)


def test_wrapping_middleware_sees_an_unexpected_error_and_the_server_does_not(
    database: Database, database_url: str
) -> None:
    key = a_key(database, an_organisation(database))
    outside.run(database_url, "ALTER TABLE departments RENAME TO departments_away")
    inner = application(database)
    errors: list[Exception] = []

    async def error_tracker(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await inner(scope, receive, send)
        except Exception as error:
            errors.append(error)
            raise

    client = Client(error_tracker)
    with capture_logs() as logs:
        broken = client.get("/api/v1/departments", key)
        refused = client.get("/api/v1/departments")
    client.close()

    assert (broken.status_code, refused.status_code) == (500, 401)
    assert broken.headers["X-Request-Id"] == broken.json()["request_id"]
    assert len(errors) == 1
    assert [
        log_entry["exc_info"] for log_entry in logs if log_entry["event"] == "request failed"
    ] == errors
    assert [log_entry["status"] for log_entry in logs if log_entry["event"] == "request"] == [
        500,
        401,
    ]


def test_each_path_is_a_route_of_a_starlette_application(database: Database) -> None:
    """Tools such as OpenTelemetry read a request's template from there."""
    starlette_app = application(database)
    scope = {"type": "http", "method": "GET", "path": "/api/v1/users/42/balance"}

    assert isinstance(starlette_app, Starlette)
    assert [
        getattr(route, "path", None)
        for route in starlette_app.routes
        if route.matches(scope)[0] is Match.FULL
    ] == ["/api/v1/users/{id}/balance"]


_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, float("inf"), 10**30, [], [1], {}),
    *("", "x" * 5_000, ["x" * 5_000], ["x"] * 100, "true", "1.5", "9" * 5_000, "a\0b"),
)
# Parts of pydantic's own sentences, and of a template that was not filled in.
_NOT_OURS = ("Input should", "should", "unable to parse", "is not a valid value", "{")


def _faults() -> Iterator[InvalidInput]:
    for operation in OPERATIONS:
        for model, in_query in ((operation.body, False), (operation.query, True)):
            if model is not None:
                yield from _faults_of(model, in_query)


def _faults_of(model: type[BaseModel], in_query: bool) -> Iterator[InvalidInput]:
    names = [field.alias or name for name, field in model.model_fields.items()]
    # A query has only strings.
    values = [value for value in _VALUES if isinstance(value, str) or not in_query]
    sent: list[Any] = [{name: value} for name in [*names, "other"] for value in values]
    for content in sent if in_query else [*sent, *values]:
        try:
            if in_query:
                model.model_validate(content)
            else:
                model.model_validate_json(to_json(content, inf_nan_mode="constants"))
        except ValidationError as error:
            refusal = refusal_of(error, model, in_query=in_query)
            if isinstance(refusal, InvalidInput):
                yield refusal


def test_no_error_has_a_sentence_of_pydantic() -> None:
    faults = [error for refusal in _faults() for error in refusal.errors]

    assert {error.code for error in faults} >= {"required", "too_short", "not_one_of"}
    assert {
        error.detail for error in faults if any(word in error.detail for word in _NOT_OURS)
    } == set()
