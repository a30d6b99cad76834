"""Every route refuses four kinds of requests before it shows or changes anything.

Without a key, with ids of another organisation, with too little scope, with too low a role.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import httpx
import pytest

from api.service import app
from api.service.app import OPERATIONS
from storage.base.values import SCOPES
from storage.db.database import Database
from tests.api.conftest import SETTINGS, Client
from tests.api.exercising import (
    NEVER,
    body_of,
    call,
    every_scope_but,
    id_fields,
    id_for,
    path_names,
    path_of,
    things,
)
from tests.builders import NOW, a_key, a_person

pytestmark = [pytest.mark.both_engines, pytest.mark.shared_database]

# Served without a key: none of them holds an organisation's data, but for the feed, whose path is
# its secret.
OPEN: Final = {
    "/cal/{token}",
    "/cal/{token}/subscribe",
    "/wallchart/{token}",
    "/payroll/{token}",
    "/my-data/{token}",
    "/wallchart/assets/{version}/{name}",
    "/healthz",
    "/readyz",
    "/metrics",
    "/openapi.json",
    "/llms.txt",
    "/",
    "/privacy",
    "/privacy/",
    "/favicon.ico",
    "/docs",
    "/docs/",
    "/docs/errors",
    "/docs/errors/",
    "/docs/assets/{version}/{name}",
}

# The status that a member gets for other people's resources where no role is needed. Every
# operation for all roles has a row here.
STRANGERS: Final[Mapping[str, int]] = {
    "me.get": 200,
    "users.list_all": 200,
    "users.get": 200,
    "users.update": 403,
    "personal_data.export": 403,
    "employment.list_all": 403,
    "employment.get": 403,
    "allowances.page": 200,
    "allowances.get": 200,
    "allowances.page_of_terms": 200,
    "allowances.get_terms": 200,
    "allowances.get_figure": 403,
    "closures.page": 200,
    "closures.get": 200,
    "time_credits.page": 200,
    "time_credits.create": 201,
    "time_credits.get": 404,
    "time_credits.approve": 404,
    "time_credits.decline": 404,
    "time_credits.cancel": 404,
    "balances.get": 403,
    "balances.list_all": 403,
    "balances.page_of_adjustments": 403,
    "balances.get_adjustment": 403,
    "reports.leave": 403,
    "reports.balances": 403,
    "reports.expiring": 403,
    "departments.page": 200,
    "departments.get": 200,
    "leave_requests.page": 200,
    "leave_requests.create": 201,
    "leave_requests.get": 404,
    "leave_requests.preview": 200,
    "leave_requests.explain": 404,
    "leave_requests.edit": 404,
    "leave_requests.withdraw_amendment": 404,
    "leave_requests.cancel": 404,
    "interruptions.interrupt": 404,
    "leave.list_visible": 200,
    "leave.create": 201,
    "leave.get": 404,
    "leave.cancel": 404,
    "approvals.pending": 200,
    "approvals.approve": 404,
    "approvals.decline": 404,
    "leave_types.page": 200,
    "leave_types.get": 200,
    "calendar_feeds.page": 200,
    "calendar_feeds.create": 201,
    "calendar_feeds.revoke": 404,
    "calendar_feeds.token": 200,
    "calendar_feeds.regenerate": 200,
    "organisation.get": 200,
    "organisation.page_of_sets": 200,
    "public_holidays.countries": 200,
    "public_holidays.holidays": 200,
    "public_holidays.page_of_overrides": 200,
    "organisation.get_set": 200,
    "calendar_feeds.get": 404,
    "api_keys.get": 404,
    "api_keys.page": 200,
    "api_keys.create": 201,
    "api_keys.revoke": 404,
}


def seen(response: httpx.Response, of_id: str) -> tuple[int, str]:
    """Status and body without the id: equal if the caller cannot tell ids apart."""
    return response.status_code, response.text.replace(of_id, "…")


def test_only_listed_paths_are_served_beside_the_operations(database: Database) -> None:
    routes = app.routes(database, SETTINGS, lambda: NOW)

    served = {f"/api/v1{operation.path}" for operation in OPERATIONS}
    assert {getattr(route, "path", None) for route in routes} == OPEN | served


def test_every_route_refuses_without_a_key(client: Client) -> None:
    responses = {
        operation.operation_id: client.request(
            operation.method,
            "/api/v1" + re.sub(r"\{\w+\}", NEVER, operation.path),
            json=operation.example,
        )
        for operation in OPERATIONS
    }

    refused = {
        name: (response.status_code, response.json()["code"])
        for name, response in responses.items()
    }
    assert refused == dict.fromkeys(responses, (401, "unauthenticated"))


def test_every_route_refuses_too_little_scope(client: Client, database: Database) -> None:
    there = things(client, database)
    scoped = [operation for operation in OPERATIONS if operation.operation_id != "me.get"]
    keys = {
        scope: a_key(database, there.acme, scopes=every_scope_but(scope))
        for scope in {operation.scope for operation in scoped}
    }

    responses = {
        operation.operation_id: call(client, operation, there, keys[operation.scope]).json()
        for operation in scoped
    }

    assert {operation.scope for operation in scoped} <= set(SCOPES)
    assert {
        operation.operation_id: responses[operation.operation_id]
        for operation in scoped
        if responses[operation.operation_id].get("missing_scope") != operation.scope
    } == {}


def test_every_change_needs_a_scope_to_write() -> None:
    assert [
        operation.operation_id
        for operation in OPERATIONS
        if operation.method != "GET"
        and not operation.scope.endswith(":write")
        # A preview changes nothing.
        and operation.operation_id != "leave_requests.preview"
    ] == []


def test_every_route_with_a_role_refuses_the_next_lower_role(
    client: Client, database: Database
) -> None:
    there = things(client, database)
    below = {
        "approver": a_key(database, there.acme, a_person(database, there.acme)),
        "admin": a_key(database, there.acme, a_person(database, there.acme, role="approver")),
        "owner": a_key(database, there.acme, a_person(database, there.acme, role="admin")),
    }

    responses = {
        operation.operation_id: call(client, operation, there, below[operation.role]).json()
        for operation in OPERATIONS
        if operation.role is not None
    }

    codes = {name: response.get("code") for name, response in responses.items()}
    assert {name: code for name, code in codes.items() if code != "insufficient_role"} == {}


def test_routes_without_a_role_protect_other_peoples_resources(
    client: Client, database: Database
) -> None:
    there = things(client, database)
    stranger = a_key(database, there.acme, a_person(database, there.acme, first_name="Mallory"))

    responses = {
        operation.operation_id: call(client, operation, there, stranger).status_code
        for operation in OPERATIONS
        if operation.role is None
    }

    assert responses == STRANGERS


def test_every_id_in_a_path_of_another_organisation_looks_unknown(
    client: Client, database: Database
) -> None:
    there, foreign = things(client, database), things(client, database)

    told_apart = []
    for operation in OPERATIONS:
        for name in path_names(operation):
            unknown, others = (
                seen(
                    call(client, operation, there, path=path_of(operation, there, **{name: of_id})),
                    of_id,
                )
                for of_id in (NEVER, foreign.id_before(operation.path, name))
            )
            if unknown[0] != 404 or others != unknown:
                told_apart.append((operation.operation_id, name, unknown, others))

    assert told_apart == []


def test_every_id_in_a_body_of_another_organisation_looks_unknown(
    client: Client, database: Database
) -> None:
    there, foreign = things(client, database), things(client, database)

    told_apart: list[Any] = []
    for operation in OPERATIONS:
        for name in id_fields(operation.body) if operation.body is not None else []:
            unknown, others = (
                seen(
                    call(client, operation, there, json=body_of(operation, there) | {name: of_id}),
                    of_id,
                )
                for of_id in (NEVER, id_for(name, foreign))
            )
            # A preview lists refusals in its body.
            is_told = unknown[0] in (404, 422) or operation.operation_id == "leave_requests.preview"
            if not is_told or others != unknown:
                told_apart.append((operation.operation_id, name, unknown, others))

    assert told_apart == []


def test_every_id_in_a_query_of_another_organisation_looks_unknown(
    client: Client, database: Database
) -> None:
    there, foreign = things(client, database), things(client, database)

    told_apart: list[Any] = []
    for operation in OPERATIONS:
        for name in id_fields(operation.query):
            unknown, others = (
                seen(call(client, operation, there, params={name: of_id}), of_id)
                for of_id in (NEVER, id_for(name, foreign))
            )
            if unknown[0] >= 500 or others != unknown:
                told_apart.append((operation.operation_id, name, unknown, others))

    assert told_apart == []


@pytest.mark.slow
def test_no_list_holds_anything_of_another_organisation(client: Client, database: Database) -> None:
    there, foreign = things(client, database), things(client, database)
    foreign_ids = {*foreign.ids.values(), foreign.acme.id, foreign.acme.owner.id}

    held = {
        (operation.operation_id, of_id)
        for operation in OPERATIONS
        if operation.method == "GET"
        for of_id in foreign_ids
        if of_id in call(client, operation, there).text
    }

    assert held == set()
