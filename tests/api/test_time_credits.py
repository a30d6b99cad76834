"""Time in lieu over REST."""

from __future__ import annotations

from typing import Any

from storage.db.database import Database
from tests.api.conftest import Client
from tests.builders import a_key, a_leave_type, a_person, a_request, an_organisation


def test_time_in_lieu_is_claimed_decided_and_kept_while_leave_uses_it(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database)
    grace = a_person(database, acme, first_name="Grace", role="approver")
    ada = a_person(database, acme, manager_id=grace.id)
    owner, boss, own = (a_key(database, acme, user) for user in (acme.owner, grace, ada))
    lieu = client.post("/api/v1/allowances", owner, json={"name": "Lieu", "earnable": True}).json()
    a_leave_type(database, acme, name="Lieu", allowance_id=lieu["id"])
    claim = {
        "allowance_id": lieu["id"],
        "worked_on": "2026-05-30",
        "days": 1,
        "reason": "Release on Saturday.",
    }

    def code(path: str, key: str, **body: Any) -> tuple[int, str]:
        response = client.post(f"/api/v1/time-credits{path}", key, json=body)
        return response.status_code, response.json()["code"]

    created = client.post("/api/v1/time-credits", own, json=claim)
    path = f"/{created.json()['id']}"
    assert (created.status_code, created.json()["status"]) == (201, "pending")
    assert created.json().items() >= claim.items()
    assert code("", own, **claim) == (409, "time_credit_exists")
    assert code(f"{path}/approve", own) == (403, "own_request")
    waiting = client.get("/api/v1/time-credits", boss, params={"status": "pending"}).json()["data"]
    assert waiting == [created.json()]

    approved = client.post(f"/api/v1/time-credits{path}/approve", boss)
    assert (approved.json()["status"], approved.json()["decided_by"]) == ("approved", grace.id)
    a_request(database, acme, ada, code="lieu")
    response = client.post(f"/api/v1/time-credits{path}/decline", boss, json={"reason": "Late"})
    assert response.status_code == 409
    assert response.json()["time_credit_status"] == "approved"
    assert code(f"{path}/cancel", own) == (403, "insufficient_role")
    assert code(f"{path}/cancel", owner) == (409, "credit_used")
