"""The pages on webhooks are true: their programs run, and their examples match real events."""

from __future__ import annotations

import json
import re
import time
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from api.webhooks.webhook_delivery import sign
from storage.admin import allowances, erasure
from storage.base.event_values import DELIVERY_EVENTS
from storage.base.secrets import new_signing_secret
from storage.db.database import Database
from storage.leave import decisions, leave_changes, leave_requests, time_credits
from storage.webhooks import deliveries, delivery_log, delivery_queue
from storage.webhooks.deliveries import RETRY_AFTER_SECONDS
from tests import javascript
from tests.builders import NOW, a_person, a_request, a_webhook, an_organisation, caller_for
from tests.outcomes import DELIVERED

DOCS = Path(__file__).parents[1] / "docs"
TEXT = (DOCS / "webhooks.md").read_text(encoding="utf-8")
EVENTS = (DOCS / "webhook-events.md").read_text(encoding="utf-8")


def code(language: str, page: str = TEXT) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def real_events(database: Database) -> dict[str, Any]:
    """An event of each type, as a receiver gets it."""
    acme = an_organisation(database)
    webhook = a_webhook(database, acme)
    grace = a_person(
        database, acme, first_name="Grace", last_name="Hopper", email="grace@example.com"
    )
    ada = a_person(database, acme, manager_id=grace.id, email="ada@example.com")
    boss, by = caller_for(acme, grace), caller_for(acme, ada)
    request = a_request(database, acme, ada, note="Family visit")
    database.write_now(leave_requests.edit, request.id, {"note": "Wedding"}, by=by, now=NOW)
    database.write_now(decisions.approve, request.id, by=boss, now=NOW)
    longer = {"end_date": date(2026, 8, 4)}
    database.write_now(leave_requests.edit, request.id, longer, by=by, now=NOW)
    database.write_now(decisions.decline, request.id, by=boss, reason=None, now=NOW)
    database.write_now(leave_requests.edit, request.id, longer, by=by, now=NOW)
    database.write_now(leave_changes.withdraw, request.id, by=by, now=NOW)
    database.write_now(leave_requests.cancel, request.id, by=by, now=NOW)
    other = a_request(database, acme, ada)
    database.write_now(decisions.decline, other.id, by=boss, reason="Too many are away.", now=NOW)
    shown = acme.write(allowances.create, {"name": "Time in lieu", "earnable": True})

    def claim(worked_on: date) -> str:
        return database.write_now(
            time_credits.create,
            allowance_id=shown.allowance.id,
            worked_on=worked_on,
            days=1,
            reason="Release on Saturday.",
            by=by,
            now=NOW,
        ).id

    credit_id = claim(date(2026, 5, 30))
    database.write_now(time_credits.approve, credit_id, by=boss, now=NOW)
    acme.write(time_credits.cancel, credit_id)
    late = claim(date(2026, 5, 31))
    database.write_now(time_credits.decline, late, reason="It was a Friday.", by=boss, now=NOW)
    left = a_person(database, acme, email="left@example.com", status="archived")
    acme.write(erasure.erase, left.id, confirm="left@example.com")
    database.write_now(delivery_log.ping, webhook.id, by=acme.caller, now=NOW)
    events_by_type: dict[str, Any] = {}
    while claimed := database.write_now(
        delivery_queue.claim, limit=100, claim_id=str(len(events_by_type)), now=NOW
    ):
        for delivery in claimed:
            events_by_type.setdefault(delivery.event_type, json.loads(delivery.body))
        pairs = [(delivery, DELIVERED) for delivery in claimed]
        database.write_now(deliveries.record_results, pairs, jitter=lambda: 1.0, now=NOW)
    return {name: events_by_type[name] for name in DELIVERY_EVENTS}


def shape(value: Any) -> Any:
    """Names and types of members, with the values of fixed vocabularies only."""
    if isinstance(value, dict):
        return {
            name: member if name in ("type", "status", "sequence") else shape(member)
            for name, member in value.items()
        }
    return type(value).__name__


def test_the_examples_match_real_events(database: Database) -> None:
    examples = [json.loads(text) for text in code("json", EVENTS)]

    real = real_events(database)

    assert {event["type"].partition(".")[0] for event in examples} == {
        name.partition(".")[0] for name in DELIVERY_EVENTS
    }
    for event in examples:
        assert shape(event) == shape(real[event["type"]])
    for name in DELIVERY_EVENTS:
        assert f"| `{name}` |" in TEXT


def test_the_table_of_waits_matches_the_retry_schedule() -> None:
    units = {"s": 1, "min": 60, "h": 3_600}
    (row,) = re.findall(r"^\| wait \| (.*) \|$", TEXT, re.MULTILINE)
    waits = [cell.split(" ") for cell in row.split(" | ")]

    assert tuple(int(number) * units[unit] for number, unit in waits) == RETRY_AFTER_SECONDS


def requests_for(secret: str, old_secret: str) -> list[dict[str, Any]]:
    """Valid, repeated, signed by two secrets, signed by the old secret, malformed, too old."""
    now = int(time.time())

    def signed_request(
        event_id: str, secrets: list[str], at: int = now, signed: str | None = None
    ) -> dict[str, Any]:
        body = json.dumps({"type": "leave_request.created", "data": {"sequence": int(event_id)}})
        signature = sign(event_id, at, body.encode(), secrets)
        headers = {
            "webhook-id": event_id,
            "webhook-timestamp": str(at),
            "webhook-signature": signed or signature,
        }
        return {"headers": headers, "body": body}

    return [
        signed_request("1", [secret]),
        signed_request("1", [secret]),
        signed_request("2", [new_signing_secret(), secret]),
        signed_request("3", [old_secret]),
        signed_request("4", [secret], signed="nonsense"),
        signed_request("5", [secret], at=now - 600),
    ]


EXPECTED = {"statuses": [204, 204, 204, 400, 400, 400], "remembered": [1, 2]}


def test_the_python_receiver_verifies_and_drops_repeats() -> None:
    (source,) = code("python")
    secret = new_signing_secret()
    seen: set[str] = set()
    remembered: list[int] = []

    def already_seen(event_id: str) -> bool:
        was_seen = event_id in seen
        seen.add(event_id)
        return was_seen

    names: dict[str, Any] = {
        "already_seen": already_seen,
        "remember": lambda data: remembered.append(data["sequence"]),
    }
    exec(source, names)  # the page's own program
    statuses = [
        names["receive"](secret, request["headers"], request["body"].encode())
        for request in requests_for(secret, new_signing_secret())
    ]

    assert {"statuses": statuses, "remembered": remembered} == EXPECTED


def test_the_javascript_receiver_verifies_and_drops_repeats() -> None:
    (source,) = code("javascript")
    secret = new_signing_secret()
    arguments = {
        "source": source,
        "secret": secret,
        "requests": requests_for(secret, new_signing_secret()),
    }

    result = javascript.node("receive-webhook.mjs", stdin=json.dumps(arguments))

    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == EXPECTED


@pytest.mark.parametrize("word", ["410", "429", "15 seconds", "120 hours", "24 hours", "4 KiB"])
def test_the_page_names_the_limits(word: str) -> None:
    assert word in TEXT
