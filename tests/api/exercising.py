"""One valid call of every operation, made from the route table, over an organisation that has
everything: the tests that walk over all operations start from these.

A new operation needs nothing here while its ids follow a path segment that has a thing in
``Things``, and its example fits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, Final

import httpx

from api.http.operations import Operation
from storage.base.values import SCOPES, User
from storage.db.database import Database
from storage.leave import decisions, leave_requests, time_credits
from tests.api.conftest import Client
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_key,
    a_leave_type,
    a_person,
    a_request,
    an_organisation,
    caller_for,
    type_id,
)

NEVER: Final = "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11"
REQUEST_ID: Final = "the-same-for-all"

# Where the documented example does not fit the organisation below.
BODIES: Final[Mapping[str, Any]] = {
    "allowances.update": {"name": "Volunteer work"},
    # The person is not archived, and only archived people are hired again.
    "users.restore": {"start_date": None},
    # The example counts from a later day, so the answer would not show it.
    "users.update": {"job_title": "Analyst"},
    # These examples are what the organisation below has already.
    "departments.update": {"name": "Development", "default_leave_allowance": 27.5},
    "digests.update": {"frequency": "weekly"},
    "closures.update": {"name": "Spring closure"},
    "absence_limits.update": {"max_away": 3},
    "personal_data.erase": {"confirm": "left@example.com"},
    # A department without people, so that the closure books nothing.
    "closures.create": {
        "name": "Christmas closure",
        "leave_type_id": "",
        "start_date": "2026-12-24",
        "end_date": "2027-01-01",
        "department_id": "",
    },
    "webhooks.create": {"url": "https://203.0.114.9/hook", "events": ["*"]},
    "webhooks.update": {"events": ["leave_request.approved"]},
    "leave_requests.edit": {"note": "A note"},
    "interruptions.interrupt": {
        "leave_type_id": "",
        "start_date": "2026-10-05",
        "end_date": "2026-10-05",
    },
    "organisation.change_set": {"categories": ["public"]},
    "leave.create": {"leave_type": "annual", "start_date": "2026-07-06", "end_date": "2026-07-06"},
}
PEOPLE: Final = b"email,first_name,last_name\nnew@example.com,Nina,New\n"
# Fields that may hold an id and do not look like it.
NAMING: Final = frozenset({"leave_type"})


CLOSURE: Final = {"name": "Easter", "start_date": "2027-03-29", "end_date": "2027-04-01"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Things:
    """An organisation with one of everything; ``ids`` are by the path segment before the id."""

    acme: Acme
    key: str
    member: User
    ids: Mapping[str, str]

    def id_before(self, path: str, name: str) -> str:
        """The id that belongs at ``{name}`` of the path."""
        if path.startswith("/time-credits/"):
            return self.ids[path.rpartition("/")[2] + " credit"]
        if path.endswith("/amendment"):
            return self.ids["amended"]
        if path.endswith("/erase"):
            return self.ids["left"]
        if path.endswith("/decline"):
            return self.ids["declined"]
        if path.endswith("/interruptions"):
            return self.ids["interrupted"]
        return self.ids[path.partition("/{" + name)[0].rpartition("/")[2]]


def things(client: Client, database: Database) -> Things:
    """A fresh organisation; Olive owns it, and her key has every scope."""
    acme = an_organisation(database)
    key = a_key(database, acme)
    department = a_department(database, acme)
    grace = a_person(database, acme, first_name="Grace", role="approver")
    ada = a_person(database, acme, manager_id=grace.id, department_id=department.id)
    requests = [
        a_request(database, acme, ada, start_date=date(2026, 9, 7) + timedelta(days=7 * week))
        for week in range(6)
    ]
    amended, interrupted = requests[3:5]
    for approved in (amended, interrupted):
        acme.write(decisions.approve, approved.id)
    longer = {"end_date": amended.end_date + timedelta(days=1)}
    database.write_now(leave_requests.edit, amended.id, longer, by=caller_for(acme, ada), now=NOW)

    def create(path: str, body: Any) -> str:
        response = client.post(f"/api/v1/{path}", key, json=body)
        assert response.status_code == 201, response.text
        thing_id: str = response.json()["id"]
        return thing_id

    holidays = create("organisation/public-holiday-sets", {"country_code": "SE"})
    webhook = create("webhooks", BODIES["webhooks.create"])
    client.post(f"/api/v1/webhooks/{webhook}/test", key)
    (ping,) = client.get(f"/api/v1/webhooks/{webhook}/deliveries", key).json()["data"]
    hedy = a_person(database, acme, first_name="Hedy")
    pot = {"name": "Community work", "days_per_year": 2, "earnable": True}
    volunteering = create("allowances", pot)
    later = {"days_per_year": 3, "effective_from": "2027-01-01"}
    client.patch(f"/api/v1/allowances/{volunteering}", key, json=later)
    # Another one, as an allowance that is used would be archived instead of deleted.
    lieu = create("allowances", {"name": "Lieu", "earnable": True})
    claims = {
        kind: database.write_now(
            time_credits.create,
            allowance_id=lieu,
            worked_on=date(2026, 5, day),
            days=1,
            reason="Release",
            by=caller_for(acme, ada),
            now=NOW,
        ).id
        for day, kind in enumerate(("{id}", "approve", "decline", "cancel"), start=1)
    }
    terms = client.get(f"/api/v1/allowances/{volunteering}/terms", key).json()["data"]
    # Of a department without people, so that it books no leave.
    closed = CLOSURE | {
        "leave_type_id": type_id(database, acme),
        "department_id": a_department(database, acme, name="Closed").id,
    }
    ids = {
        "users": hedy.id,
        "left": a_person(database, acme, email="left@example.com", status="archived").id,
        "allowances": volunteering,
        "terms": terms[-1]["id"],
        **{f"{kind} credit": credit_id for kind, credit_id in claims.items()},
        "adjustments": create(
            f"users/{hedy.id}/adjustments", {"days": 2, "reason": "Overtime", "leave_year": 2026}
        ),
        "employment": create(f"users/{hedy.id}/employment", {"valid_from": "2026-09-01"}),
        "departments": a_department(database, acme, name="Empty").id,
        "leave-requests": requests[0].id,
        "leave": requests[1].id,
        "approvals": requests[2].id,
        "declined": requests[5].id,
        "amended": amended.id,
        "interrupted": interrupted.id,
        "public-holiday-sets": holidays,
        "overrides": create(
            f"organisation/public-holiday-sets/{holidays}/overrides",
            {"date": "2026-10-01", "name": "Founders' day"},
        ),
        "leave-types": a_leave_type(database, acme, name="Sabbatical", may_interrupt=True).id,
        "calendar-feeds": create("calendar-feeds", {"name": "Phone"}),
        "webhooks": webhook,
        "deliveries": ping["id"],
        "digests": create("digests", {"channel": "C0OUT", "department_id": department.id}),
        "display-links": create("display-links", {"name": "Kitchen"}),
        "closures": create("closures", closed),
        "absence-limits": create("absence-limits", {"name": "Everyone", "max_away": 50}),
        "api-keys": create("api-keys", {"name": "Spare", "scopes": ["leave:read"]}),
    }
    return Things(acme=acme, key=key, member=ada, ids=ids)


def path_names(operation: Operation) -> list[str]:
    """The names of the path's ids, from left to right."""
    return re.findall(r"\{(\w+)\}", operation.path)


def path_of(operation: Operation, there: Things, **replaced: str) -> str:
    """The path with ids of these things in it, or those of ``replaced``."""

    def id_at(match: re.Match[str]) -> str:
        return replaced.get(match[1]) or there.id_before(operation.path, match[1])

    return "/api/v1" + re.sub(r"\{(\w+)\}", id_at, operation.path)


def body_of(operation: Operation, there: Things) -> Any:
    """The documented example with ids of these things in it; None where there is no body."""
    if operation.body is None:
        return None
    body = dict(BODIES.get(operation.operation_id) or operation.example or {})
    return body | {
        name: id_for(name, there)
        for name, value in body.items()
        if name.endswith("_id") and value is not None
    }


def id_for(field: str, there: Things) -> str:
    """A valid value for a field of that name."""
    kind = field.removesuffix("_id")
    segment = {
        "user": "users",
        "cover_user": "users",
        "manager": "users",
        "actor": "users",
        "subject": "users",
        "department": "departments",
        "leave_type": "leave-types",
        "allowance": "allowances",
        "closure": "closures",
        "replaces": "leave-requests",
    }[kind]
    return there.ids[segment]


def call(
    client: Client, operation: Operation, there: Things, key: str | None = None, **more: Any
) -> httpx.Response:
    """The valid call; ``path``, ``json`` and ``params`` override its parts."""
    headers = {"X-Request-Id": REQUEST_ID}
    path = more.pop("path", None) or path_of(operation, there)
    return client.request(
        operation.method,
        path,
        key=key or there.key,
        headers=headers,
        **content_of(operation, there) | more,
    )


def content_of(operation: Operation, there: Things) -> dict[str, Any]:
    """A valid body or form, as httpx takes it."""
    if operation.form is not None:
        return {"files": {"file": ("people.csv", PEOPLE)}}
    return {"json": body_of(operation, there)} if operation.body is not None else {}


def schema_fields(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Name and alternatives of each property of a model's JSON schema, references followed."""
    for name, described in schema.get("properties", {}).items():
        yield (
            name,
            [_resolved(alternative, defs) for alternative in described.get("anyOf", [described])],
        )


def _resolved(schema: Any, defs: Mapping[str, Any]) -> Any:
    reference = schema.get("$ref")
    return defs[reference.rpartition("/")[2]] if reference else schema


def fields_of(model: Any) -> list[tuple[str, list[Any]]]:
    """Every field of a body or query model with its alternatives in JSON Schema."""
    schema = model.model_json_schema()
    return list(schema_fields(schema, schema.get("$defs", {})))


def id_fields(model: Any) -> list[str]:
    """The fields of a model that hold an id."""
    return [
        name
        for name, alternatives in fields_of(model)
        if name in NAMING
        or any(alternative.get("format") == "uuid" for alternative in alternatives)
    ]


def every_scope_but(scope: str) -> list[str]:
    """All scopes that do not include this one; writing includes reading."""
    return [other for other in SCOPES if other not in (scope, scope.replace(":read", ":write"))]
