"""The colleague who covers, over REST: given, refused, warned of, and shown to whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from storage.admin import people_status
from storage.base.values import User
from storage.db.database import Database
from storage.leave import decisions
from tests.api.conftest import Client
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_key,
    a_leave_type,
    a_person,
    an_organisation,
    personal_token,
    type_id,
)

pytestmark = pytest.mark.shared_database

REQUESTS = "/api/v1/leave-requests"


@dataclass(frozen=True, kw_only=True, slots=True)
class Team:
    """Ada and Grace are of one department; Olive, the owner, approves."""

    acme: Acme
    ada: User
    grace: User
    key: str
    graces_key: str
    owners_key: str
    annual: str

    def body(self, **more: Any) -> dict[str, Any]:
        return {
            "leave_type_id": self.annual,
            "start_date": "2026-08-03",
            "end_date": "2026-08-05",
            "cover_user_id": self.grace.id,
            **more,
        }


@pytest.fixture
def team(database: Database) -> Team:
    acme = an_organisation(database)
    department = a_department(database, acme)
    ada = a_person(database, acme, department_id=department.id)
    grace = a_person(
        database, acme, first_name="Grace", last_name="Hopper", department_id=department.id
    )
    return Team(
        acme=acme,
        ada=ada,
        grace=grace,
        key=a_key(database, acme, ada),
        graces_key=a_key(database, acme, grace),
        owners_key=a_key(database, acme, acme.owner),
        annual=type_id(database, acme),
    )


def test_a_cover_is_given_changed_and_cleared(client: Client, team: Team) -> None:
    created = client.post(REQUESTS, team.key, json=team.body())
    path = created.headers["Location"]

    assert (created.status_code, created.json()["cover_user_id"]) == (201, team.grace.id)
    [listed] = client.get(REQUESTS, team.key).json()["data"]
    assert created.json() == {**listed, "warnings": []}

    approved = client.post(
        f"{path.replace('leave-requests', 'approvals')}/approve", team.owners_key
    )
    assert approved.json()["cover_user_id"] == team.grace.id

    changed = client.patch(path, team.key, json={"cover_user_id": None})
    assert (changed.json()["status"], changed.json()["cover_user_id"]) == ("approved", None)
    assert changed.json()["amendment"] is None


def test_the_second_shape_takes_a_cover_too(client: Client, database: Database, team: Team) -> None:
    a_leave_type(database, team.acme, code="study", requires_cover=True)
    body = {"leave_type": "study", "start_date": "2026-08-03", "end_date": "2026-08-05"}

    refused = client.post("/api/v1/leave", team.key, json=body)
    created = client.post("/api/v1/leave", team.key, json=body | {"cover_user_id": team.grace.id})

    assert (refused.status_code, refused.json()["code"]) == (422, "cover_required")
    assert created.status_code == 201
    request = client.get(f"{REQUESTS}/{created.json()['id']}", team.key).json()
    assert request["cover_user_id"] == team.grace.id


def test_calendars_say_who_covers_until_they_are_archived(
    client: Client, database: Database, team: Team
) -> None:
    created = client.post(REQUESTS, team.key, json=team.body()).json()
    database.write_now(decisions.approve, created["id"], by=team.acme.caller, now=NOW)
    token = database.write_now(personal_token, by=team.acme.caller, now=NOW)
    feed = f"/cal/{token}?scope=org"

    before = client.get(feed)
    assert "Ada Lovelace: Annual leave (covered by Grace Hopper)" in unfolded(before.text)

    database.write_now(people_status.archive, team.grace.id, by=team.acme.caller, now=NOW)
    after = client.get(feed, headers={"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 200
    assert "SUMMARY:Ada Lovelace: Annual leave\r\n" in unfolded(after.text)


def unfolded(calendar: str) -> str:
    return calendar.replace("\r\n ", "")
