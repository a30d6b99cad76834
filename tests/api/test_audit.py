"""Every change, and nothing else, adds its rows to the audit trail."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import pytest

from api.service.app import OPERATIONS
from storage.db.database import Database
from tests.api.conftest import Client
from tests.api.exercising import REQUEST_ID, Things, call, path_of, things
from tests.builders import a_key, a_person

pytestmark = pytest.mark.shared_database

# The actions of the audit rows that each operation's valid call adds, newest first. Every operation
# has a row here; without changes, it is an empty list.
LEFT: Final[Mapping[str, list[str]]] = {
    "users.create": ["user.created"],
    "imports.run": ["user.created"],
    "users.update": ["user.updated"],
    "users.archive": ["user.archived"],
    "personal_data.erase": ["user.erased"],
    "users.deactivate": ["user.deactivated"],
    "users.reactivate": [],
    "users.unlink_slack": [],
    "users.restore": [],
    "employment.create": ["employment_record.created"],
    "employment.update": ["employment_record.updated"],
    "employment.remove": ["employment_record.deleted"],
    "balances.add_adjustment": ["allowance_adjustment.created"],
    "departments.create": ["department.created"],
    "departments.update": ["department.updated"],
    "departments.delete": ["department.deleted"],
    "absence_limits.create": ["absence_limit.created"],
    "absence_limits.update": ["absence_limit.updated"],
    "absence_limits.delete": ["absence_limit.deleted"],
    "closures.create": ["closure.created"],
    "closures.update": ["closure.updated"],
    "closures.delete": ["closure.deleted"],
    "digests.create": ["digest.created"],
    "digests.update": ["digest.updated"],
    "digests.delete": ["digest.deleted"],
    "display_links.create": ["display_link.created"],
    "display_links.update": ["display_link.updated"],
    "display_links.revoke": ["display_link.revoked"],
    "leave_requests.create": ["leave_request.approved", "leave_request.created"],
    "leave_requests.preview": [],
    "leave_requests.edit": ["leave_request.updated"],
    "leave_requests.withdraw_amendment": ["leave_request.amendment_withdrawn"],
    "interruptions.interrupt": [
        "leave_request.approved",
        "leave_request.created",
        "leave_request.cancelled",
    ],
    "leave_requests.cancel": ["leave_request.cancelled"],
    "leave.create": ["leave_request.approved", "leave_request.created"],
    "leave.cancel": ["leave_request.cancelled"],
    "approvals.approve": ["leave_request.approved"],
    "approvals.decline": ["leave_request.declined"],
    "leave_types.create": ["leave_type.created"],
    "leave_types.update": ["leave_type.updated"],
    "leave_types.delete": ["leave_type.deleted"],
    "calendar_feeds.create": ["calendar_feed.created"],
    "calendar_feeds.revoke": ["calendar_feed.revoked"],
    "calendar_feeds.token": ["calendar_feed.token_created"],
    "calendar_feeds.regenerate": ["calendar_feed.token_regenerated"],
    "organisation.update": ["organisation.updated"],
    "organisation.add_set": ["holiday_set.created"],
    "time_credits.create": ["time_credit.approved", "time_credit.created"],
    "time_credits.approve": ["time_credit.approved"],
    "time_credits.decline": ["time_credit.declined"],
    "time_credits.cancel": ["time_credit.cancelled"],
    "allowances.create": ["allowance.created"],
    "allowances.update": ["allowance.updated"],
    "allowances.delete": ["allowance.deleted"],
    "allowances.delete_terms": ["allowance.updated"],
    "allowances.put_figure": ["user.updated"],
    "organisation.change_set": ["holiday_set.updated"],
    "public_holidays.add_override": ["holiday_override.created"],
    "public_holidays.remove_override": ["holiday_override.deleted"],
    "public_holidays.remove_set": ["holiday_set.deleted"],
    "webhooks.create": ["webhook.created"],
    "webhooks.update": ["webhook.updated"],
    "webhooks.delete": ["webhook.deleted"],
    "webhooks.test": [],
    "webhooks.redeliver": ["webhook.redelivery_requested"],
    "webhooks.redeliver_failed": ["webhook.redelivery_requested"],
    "webhooks.rotate_secret": ["webhook.secret_rotated"],
    "api_keys.create": ["api_key.created"],
    "api_keys.revoke": ["api_key.revoked"],
}
# Members of a resource that no one sets.
COMPUTED: Final = {"updated_at", "version", "holiday_count"}
# Where the subject is of another type than the action says: records belong to a person.
SUBJECT_TYPES: Final = {"employment_record": "user"}
# The prefix that identifies a key is no secret; anything longer is.
SECRETS: Final = re.compile(r"hiatus_sk_live_\w{12}|whsec_|sha256|encrypted")


def entries(client: Client, there: Things, **filters: str) -> list[dict[str, Any]]:
    response = client.get("/api/v1/audit", there.key, params={"limit": "100", **filters})
    assert response.status_code == 200, response.text
    audit_entries: list[dict[str, Any]] = response.json()["data"]
    return audit_entries


def test_every_operation_leaves_exactly_its_own_rows(client: Client, database: Database) -> None:
    actions = {}
    unchanged = things(client, database)
    for operation in OPERATIONS:
        # Reads leave no entries, as is checked below, so one organisation serves them all.
        there = unchanged if operation.method == "GET" else things(client, database)
        before = {entry["id"] for entry in entries(client, there)}
        response = call(client, operation, there)
        assert response.status_code == operation.status, response.text
        new_entries = [entry for entry in entries(client, there) if entry["id"] not in before]
        for entry in new_entries:
            assert entry["request_id"] == REQUEST_ID
            assert (entry["source"], entry["actor"]["id"]) == ("api", there.acme.owner.id)
            kind = entry["action"].partition(".")[0]
            assert entry["subject"]["type"] == SUBJECT_TYPES.get(kind, kind)
            assert entry["changes"] or entry["action"].startswith("calendar_feed.token")
        if new_entries or operation.method != "GET":
            actions[operation.operation_id] = [entry["action"] for entry in new_entries]

    assert actions == LEFT


def test_a_change_is_audited_with_what_differs(client: Client, database: Database) -> None:
    for operation in OPERATIONS:
        # The trail has a person's records as a whole.
        if operation.method != "PATCH" or operation.operation_id == "employment.update":
            continue
        there = things(client, database)
        path = path_of(operation, there)
        before = client.get(path, there.key).json()
        call(client, operation, there)
        after = client.get(path, there.key).json()

        changes = {
            name: {"before": before[name], "after": after[name]}
            for name in after
            if before[name] != after[name] and name not in COMPUTED
        }
        newest = entries(client, there)[0]
        # The days of a department's allowances, which the department does not show.
        newest["changes"].pop("later_leave_allowances", None)
        assert changes
        assert (newest["action"], newest["changes"]) == (LEFT[operation.operation_id][0], changes)


def test_a_refused_change_leaves_no_audit_row(client: Client, database: Database) -> None:
    there = things(client, database)
    stranger = a_key(database, there.acme, a_person(database, there.acme), scopes=["leave:read"])
    before = entries(client, there)

    statuses = {
        call(client, operation, there, stranger).status_code
        for operation in OPERATIONS
        if operation.scope.endswith(":write")
    }

    assert statuses == {403}
    assert entries(client, there) == before


def test_audit_rows_have_no_secrets_and_one_time_format(client: Client, database: Database) -> None:
    there = things(client, database)
    shown = " ".join(
        call(client, operation, there).text
        for operation in OPERATIONS
        if operation.method != "DELETE"
    )
    secrets = set(re.findall(r'"(?:api_key|secret|token)":"([^"]+)"', shown))
    secrets |= set(re.findall(r"/cal/([A-Za-z0-9_-]+)", shown)) | {there.key}

    trail = client.get("/api/v1/audit?limit=100", there.key).text

    assert len(secrets) >= 5
    assert [secret for secret in secrets if secret in trail] == []
    assert SECRETS.findall(trail) == []
    times = re.findall(r'"\d{4}-\d\d-\d\dT[^"]*"', trail)
    assert times
    assert [time for time in times if not time.endswith('Z"')] == []
    assert "half_days" not in trail


def test_a_no_op_leaves_no_row(client: Client, database: Database) -> None:
    there = things(client, database)
    patches = [operation for operation in OPERATIONS if operation.method == "PATCH"]
    for operation in patches:
        call(client, operation, there)
    before = entries(client, there)

    for operation in patches:
        assert call(client, operation, there).status_code == 200

    assert entries(client, there) == before


@pytest.mark.both_engines
def test_the_trail_is_filtered(client: Client, database: Database) -> None:
    there = things(client, database)
    ada = a_key(database, there.acme, there.member)
    client.patch(f"/api/v1/users/{there.member.id}", ada, json={"job_title": "Analyst"})

    of_ada = entries(client, there, actor_id=there.member.id)
    updated = entries(client, there, action="user.updated")
    about_ada = entries(client, there, subject_id=there.member.id)

    assert [entry["action"] for entry in of_ada] == [
        "user.updated",
        "api_key.created",
        *["time_credit.created"] * 4,
        "leave_request.amendment_requested",
        *["leave_request.created"] * 6,
    ]
    assert updated == of_ada[:1]
    assert updated[0]["changes"] == {"job_title": {"before": None, "after": "Analyst"}}
    assert [entry["action"] for entry in about_ada] == [
        "user.updated",
        "user.activated",
        "user.created",
    ]
    assert entries(client, there, to="2026-05-31") == []
    assert entries(client, there, **{"from": "2026-06-02"}) == []
    assert len(entries(client, there, **{"from": "2026-06-01", "to": "2026-06-01"})) > 10


@pytest.mark.both_engines
@pytest.mark.parametrize("name", ["action", "actor_id", "subject_id"])
def test_a_filtered_trail_is_paged_without_gaps(
    client: Client, database: Database, name: str
) -> None:
    there = things(client, database)
    value = {
        "action": "leave_request.created",
        "actor_id": there.acme.owner.id,
        "subject_id": there.member.id,
    }[name]
    whole = entries(client, there, **{name: value})

    first = client.get("/api/v1/audit", there.key, params={"limit": "1", name: value}).json()
    cursor = first["pagination"]["next_cursor"]
    rest = entries(client, there, **{name: value, "cursor": cursor})

    assert first["data"] + rest == whole
    assert len(whole) > 1
