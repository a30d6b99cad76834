"""What every resource has in common, from the operations themselves: a new one is tested by being
registered. Permissions are in ``test_route_walk``, the audit trail in ``test_audit``.
"""

from __future__ import annotations

import re
from typing import Any, get_type_hints

import pytest
from jsonschema import Draft202012Validator

from api.http.operations import Operation
from api.service.app import OPERATIONS
from storage.db.database import Database
from tests.api.conftest import Client
from tests.api.exercising import Things, body_of, call, content_of, path_of, things
from tests.documented import document, resolved

pytestmark = pytest.mark.shared_database

TAG = re.compile(r'"[0-9a-f]{32}"')
RESOURCES = [operation for operation in OPERATIONS if operation.is_resource]
CREATIONS = [
    operation
    for operation in OPERATIONS
    if operation.method == "POST" and operation.status == 201 and operation.resource
]
ACTIONS = [
    operation
    for operation in OPERATIONS
    if operation.method == "POST" and operation.status == 200 and operation.resource
]
# Records are deleted before the people to whom they belong.
CONDITIONAL = sorted(
    (operation for operation in OPERATIONS if operation.changes_resource),
    key=lambda operation: (operation.method, operation.path.count("/")),
    reverse=True,
)
CHANGES = [operation for operation in CONDITIONAL if operation.method == "PATCH"]
# Deletions come last, and those of a part before the whole's.
IN_ORDER = [
    *(operation for operation in OPERATIONS if operation.method != "DELETE"),
    *sorted(
        (operation for operation in OPERATIONS if operation.method == "DELETE"),
        key=lambda operation: -operation.path.count("/"),
    ),
]


@pytest.fixture
def there(client: Client, database: Database) -> Things:
    return things(client, database)


@pytest.mark.both_engines
def test_every_response_has_its_documented_shape(client: Client, there: Things) -> None:
    whole = document()

    for operation in IN_ORDER:
        response = call(client, operation, there)
        assert response.status_code == operation.status, (operation.operation_id, response.text)
        if operation.result is None:
            continue
        described = whole["paths"][f"/api/v1{operation.path}"][operation.method.lower()]
        content = resolved(described["responses"][str(operation.status)], whole)["content"]
        schema = {**content["application/json"]["schema"], "components": whole["components"]}
        Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(
            response.json()
        )


def test_an_unchanged_resource_is_not_sent_again(client: Client, there: Things) -> None:
    # The key's last use, which is shown too, is recorded now, and then not for a minute.
    client.get("/api/v1/leave-types", there.key)
    for operation in RESOURCES:
        path = path_of(operation, there)

        first = client.get(path, there.key)
        assert first.status_code == 200, path
        tag = first.headers["ETag"]
        unchanged = client.get(path, there.key, headers={"If-None-Match": f'"other", W/{tag}'})
        other = client.get(path, there.key, headers={"If-None-Match": '"other"'})

        assert TAG.fullmatch(tag), path
        assert (unchanged.status_code, unchanged.content) == (304, b""), path
        assert unchanged.headers["ETag"] == tag, path
        assert unchanged.headers["Cache-Control"] == first.headers["Cache-Control"], path
        assert "Content-Type" not in unchanged.headers, path
        assert (other.status_code, other.headers["ETag"]) == (200, tag), path


def test_a_new_resource_is_at_its_location_and_in_its_list(client: Client, there: Things) -> None:
    for operation in CREATIONS:
        name = operation.operation_id
        created = call(client, operation, there)
        read = client.get(created.headers["Location"], there.key)

        assert (created.status_code, read.status_code) == (201, 200), name
        assert created.headers["ETag"] == read.headers["ETag"], name
        # A secret is shown once.
        assert created.json().items() >= read.json().items(), name
        assert (created.content == read.content) is (operation.result is operation.resource.result)  # type: ignore[union-attr]
        listed = client.get(path_of(operation, there), there.key, params={"limit": "100"})
        if listed.status_code == 422:
            listed = client.get(path_of(operation, there), there.key)
        assert created.json()["id"] in listed.text, name


@pytest.mark.parametrize("operation", ACTIONS, ids=lambda item: item.operation_id)
def test_an_action_shows_the_resource_as_it_is_now(
    client: Client, there: Things, operation: Operation
) -> None:
    assert operation.resource is not None
    path = operation.resource.path.replace("{id}", there.id_before(operation.path, "id"))

    done = call(client, operation, there)
    read = client.get(f"/api/v1{path}", there.key)

    assert (done.status_code, done.content) == (200, read.content)
    assert done.headers["ETag"] == read.headers["ETag"]


@pytest.mark.both_engines
@pytest.mark.parametrize("operation", CONDITIONAL, ids=lambda item: item.operation_id)
def test_a_conditional_change_needs_the_current_tag(
    client: Client, there: Things, operation: Operation
) -> None:
    path = path_of(operation, there)
    # The key's last use, which is shown too, is recorded now, and then not for a minute.
    client.get("/api/v1/leave-types", there.key)
    before = client.get(path, there.key)

    def change(tag: str) -> Any:
        body = content_of(operation, there)
        headers = {"If-Match": tag}
        return client.request(operation.method, path, key=there.key, headers=headers, **body)

    stale = change('"00000000000000000000000000000000"')
    weak = change(f"W/{before.headers['ETag']}")

    assert (stale.status_code, stale.json()["code"]) == (412, "precondition_failed")
    assert weak.status_code == 412
    assert client.get(path, there.key).content == before.content
    changed = change(before.headers["ETag"])
    assert changed.is_success, changed.text
    if operation.is_tagged:
        assert changed.headers["ETag"] == client.get(path, there.key).headers["ETag"]


def test_a_whole_object_is_read_changed_and_sent_back(client: Client, there: Things) -> None:
    for operation in CHANGES:
        path, change = path_of(operation, there), body_of(operation, there)
        read = client.get(path, there.key)
        whole: dict[str, Any] = read.json()

        changed = client.patch(
            path, there.key, json=whole | change, headers={"If-Match": read.headers["ETag"]}
        )

        assert changed.status_code == 200, (path, changed.text)
        shown = changed.json()
        assert change.items() <= shown.items(), path
        assert shown.keys() >= whole.keys(), path
        current = client.get(path, there.key).json()
        assert client.patch(path, there.key, json=shown).status_code == 200, path
        again = client.patch(path, there.key, json=current).json()
        assert current.items() <= again.items(), path


def test_a_read_only_member_that_differs_is_refused_by_name(client: Client, there: Things) -> None:
    # The key's last use, which is shown too, is recorded now, and then not for a minute.
    client.get("/api/v1/leave-types", there.key)
    for operation in CHANGES:
        path = path_of(operation, there)
        before = client.get(path, there.key)
        whole: dict[str, Any] = before.json()
        other = dict.fromkeys(operation.read_only_members & whole.keys(), "another")

        refused = client.patch(path, there.key, json=whole | body_of(operation, there) | other)
        unknown = client.patch(path, there.key, json=whole | {"colourr": 1})

        errors = {(error["pointer"], error["code"]) for error in refused.json()["errors"]}
        assert errors == {(f"/{name}", "read_only") for name in other}, path
        assert [error["code"] for error in unknown.json()["errors"]] == ["unknown_field"], path
        assert client.get(path, there.key).content == before.content, path


@pytest.mark.both_engines
def test_every_post_is_carried_out_once_for_its_idempotency_key(
    client: Client, there: Things
) -> None:
    for operation in OPERATIONS:
        if operation.method != "POST":
            continue
        key = {"Idempotency-Key": operation.operation_id, "X-Request-Id": "the-same"}
        body = content_of(operation, there)
        path = path_of(operation, there)

        first = client.post(path, there.key, headers=key, **body)
        again = client.post(path, there.key, headers=key, **body)

        assert first.status_code == operation.status, (operation.operation_id, first.text)
        assert (again.status_code, again.content) == (first.status_code, first.content)
        assert "Idempotent-Replayed" not in first.headers
        assert again.headers["Idempotent-Replayed"] == "true"


@pytest.mark.both_engines
def test_a_dry_run_has_the_documented_shape_and_changes_nothing(
    client: Client, there: Things
) -> None:
    components = document()["components"]
    before = client.get("/api/v1/audit?limit=100", there.key).content

    for operation in OPERATIONS:
        if operation.dry_run is None:
            continue
        response = call(client, operation, there, params={"dry_run": "true"})

        assert response.status_code == 200, (operation.operation_id, response.text)
        assert response.json()["dry_run"] is True, operation.operation_id
        name = get_type_hints(operation.dry_run)["return"].__name__
        schema = {"$ref": f"#/components/schemas/{name}", "components": components}
        Draft202012Validator(schema).validate(response.json())
        after = client.get("/api/v1/audit?limit=100", there.key).content
        assert after == before, operation.operation_id


API = "/api/v1"


def test_a_duplicate_name_is_409_with_the_id_of_the_existing_record(
    client: Client, key: str
) -> None:
    research = client.post(f"{API}/departments", key, json={"name": "Research"}).json()
    study = client.post(f"{API}/leave-types", key, json={"name": "Study"}).json()

    department = client.post(f"{API}/departments", key, json={"name": "research"})
    leave_type = client.post(f"{API}/leave-types", key, json={"name": "STUDY", "code": "other"})

    for refused, other in ((department, research), (leave_type, study)):
        assert (refused.status_code, refused.json()["code"]) == (409, "name_taken")
        assert refused.json()["other_id"] == other["id"]
        assert f"{other['name']} already exists" in refused.json()["detail"]


def test_an_admin_can_redeliver_missed_events(client: Client, key: str) -> None:
    body = {"url": "https://203.0.114.9/hook", "events": ["leave_request.approved"]}
    path = client.post(f"{API}/webhooks", key, json=body).headers["Location"]
    again = f"{path}/redeliver-failed"

    webhook = client.get(path, key).json()
    done = client.post(again, key, json={"since": "2026-06-01T09:00:00Z"})
    unclear = client.post(again, key, json={"since": "yesterday"})
    client.patch(path, key, json={"is_active": False})
    refused = client.post(again, key, json={"since": "2026-06-01T09:00:00Z"})

    assert (webhook["failing_since"], webhook["next_attempt_at"]) == (None, None)
    assert (done.status_code, done.json()) == (202, {"count": 0, "has_more": False})
    assert (unclear.status_code, unclear.json()["errors"][0]["pointer"]) == (422, "/since")
    assert (refused.status_code, refused.json()["code"]) == (409, "webhook_disabled")
