from __future__ import annotations

from datetime import date

import pytest
from starlette.applications import Starlette
from starlette.routing import Match
from starlette.types import Receive, Scope, Send
from structlog.testing import capture_logs

from api.http.errors import STATUS, extension_members, status_of
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
from tests.api.conftest import Client, a_key, application
from tests.builders import an_organisation
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
