"""The details of leave that each viewer's feeds show: every viewer against every kind of leave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import product
from typing import Final

import pytest

from storage.admin import people_status
from storage.base.calendar_values import FeedScope
from storage.base.leave_values import LeaveType
from storage.base.values import User
from storage.db.database import Database
from storage.leave import decisions, leave_requests
from storage.leave.drafts import Draft
from tests import calendars
from tests.api.conftest import Client
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_key,
    a_leave_type,
    a_person,
    an_organisation,
    caller_for,
)

pytestmark = pytest.mark.shared_database

# Ada is away. Her team: Carl is of her department, which Head leads; Grace manages her.
VIEWERS: Final = (
    "herself",
    "manager",
    "department head",
    "department colleague",
    "other colleague",
    "report",
    "admin",
    "owner",
)
TEAM: Final = frozenset({"herself", "manager", "department head", "department colleague"})
SCOPES: Final[tuple[FeedScope, ...]] = ("personal", "team", "org")
FATES: Final = ("pending", "approved", "declined", "reversed", "withdrawn", "called off")
# The status that viewers see for each fate of a request; a missing fate is not shown.
SHOWN_TO_HERSELF: Final = {
    "pending": "TENTATIVE",
    "approved": "CONFIRMED",
    "declined": "CANCELLED",
    "reversed": "CANCELLED",
    "withdrawn": "CANCELLED",
    "called off": "CANCELLED",
}
SHOWN_TO_OTHERS: Final = {
    "approved": "CONFIRMED",
    "reversed": "CANCELLED",
    "called off": "CANCELLED",
}

PUBLIC, PRIVATE = "Sabbatical", "Chemotherapy"
NOTE, REASON, CODE, COLOUR = "note-of-ada", "reason-of-olive", "chemo-code", "#7fffd4"


@dataclass(frozen=True, kw_only=True, slots=True)
class Cast:
    """``requests`` are Ada's: by whether their type is private, and by fate."""

    acme: Acme
    people: dict[str, User]
    requests: dict[tuple[bool, str], str]


def a_cast(database: Database) -> Cast:
    acme = an_organisation(database)
    head = a_person(database, acme, first_name="Head")
    team = a_department(database, acme, name="Team", manager_id=head.id)
    elsewhere = a_department(database, acme, name="Elsewhere")
    manager = a_person(database, acme, first_name="Grace", department_id=elsewhere.id)
    ada = a_person(database, acme, department_id=team.id, manager_id=manager.id)
    cast = {
        "herself": ada,
        "manager": manager,
        "department head": head,
        "department colleague": a_person(database, acme, first_name="Carl", department_id=team.id),
        "other colleague": a_person(database, acme, first_name="Hedy", department_id=elsewhere.id),
        "report": a_person(database, acme, first_name="Rob", manager_id=ada.id),
        "admin": a_person(database, acme, first_name="Alan", role="admin"),
        "owner": acme.owner,
    }
    types = {
        False: a_leave_type(database, acme, name=PUBLIC, deducts_allowance=False),
        True: a_leave_type(
            database,
            acme,
            name=PRIVATE,
            code=CODE,
            colour=COLOUR,
            is_private=True,
            deducts_allowance=False,
        ),
    }
    day = date(2026, 8, 3)
    requests = {}
    for is_private, fate in product((False, True), FATES):
        requests[is_private, fate] = ask(database, acme, ada, types[is_private], fate, day)
        day += timedelta(weeks=1)
    return Cast(acme=acme, people=cast, requests=requests)


def ask(
    database: Database, acme: Acme, ada: User, leave_type: LeaveType, fate: str, day: date
) -> str:
    by = caller_for(acme, ada)
    draft = Draft(leave_type_id=leave_type.id, start_date=day, end_date=day, note=NOTE)
    request = database.write_now(leave_requests.submit, by=by, draft=draft, now=NOW)
    steps: dict[str, list[Callable[[], object]]] = {
        "approve": [lambda: acme.write(decisions.approve, request.id)],
        "decline": [lambda: acme.write(decisions.decline, request.id, reason=REASON)],
        "decline after all": [
            lambda: acme.write(decisions.change_decision, request.id, "declined")
        ],
        "cancel": [lambda: database.write_now(leave_requests.cancel, request.id, by=by, now=NOW)],
    }
    paths = {
        "pending": [],
        "approved": ["approve"],
        "declined": ["decline"],
        "reversed": ["approve", "decline after all"],
        "withdrawn": ["cancel"],
        "called off": ["approve", "cancel"],
    }
    for step in paths[fate]:
        for take in steps[step]:
            take()
    return request.id


def expected(viewer: str, scope: FeedScope) -> dict[tuple[bool, str], tuple[str, str]]:
    """Status and summary of each request that the viewer's feed of that scope shows."""
    is_own = viewer == "herself"
    if scope == "personal":
        statuses = SHOWN_TO_HERSELF if is_own else {}
    elif scope == "team":
        statuses = SHOWN_TO_OTHERS if viewer in TEAM else {}
    else:
        statuses = SHOWN_TO_OTHERS
    events = {}
    for is_private, fate in product((False, True), statuses):
        if is_own:
            summary = (PRIVATE if is_private else PUBLIC) + " (pending)" * (fate == "pending")
        else:
            summary = f"Ada Lovelace: {'Away' if is_private else PUBLIC}"
        events[is_private, fate] = statuses[fate], summary
    return events


@pytest.mark.parametrize("viewer", VIEWERS)
def test_each_viewer_sees_only_visible_details(
    client: Client, database: Database, viewer: str
) -> None:
    cast = a_cast(database)
    key = a_key(database, cast.acme, cast.people[viewer])
    path = client.get("/api/v1/calendar-feeds/token", key).json()["feeds"]["personal"]

    for scope in SCOPES:
        content = client.get(f"{path}?scope={scope}").content

        events = {event.uid: event for event in calendars.by_icalendar(content)}
        visible = {
            kind: (events[request_id].status, events[request_id].summary)
            for kind, request_id in cast.requests.items()
            if request_id in events
        }
        assert visible == expected(viewer, scope), scope
        for event in events.values():
            is_busy = viewer == "herself" and event.status != "CANCELLED"
            is_leave = not event.uid.startswith("holiday-")
            assert event.transparency == ("OPAQUE" if is_busy and is_leave else "TRANSPARENT")
        assert NOTE.encode() not in content
        assert REASON.encode() not in content
        if viewer != "herself":
            for secret in (PRIVATE, CODE, "aquamarine"):
                assert secret.encode() not in content


@pytest.mark.parametrize("viewer", ["manager", "department colleague", "owner"])
def test_a_private_type_hides_leave_cancelled_before_the_change(
    client: Client, database: Database, viewer: str
) -> None:
    cast = a_cast(database)
    key = a_key(database, cast.acme, cast.people[viewer])
    owners_key = a_key(database, cast.acme)
    path = client.get("/api/v1/calendar-feeds/token", key).json()["feeds"]["organisation"]
    assert PUBLIC.encode() in client.get(path).content
    leave_types = client.get("/api/v1/leave-types", owners_key).json()["data"]
    sabbatical = next(
        leave_type["id"] for leave_type in leave_types if leave_type["name"] == PUBLIC
    )

    client.patch(f"/api/v1/leave-types/{sabbatical}", owners_key, json={"is_private": True})

    assert PUBLIC.encode() not in client.get(path).content


def test_archiving_a_person_cancels_their_events_in_feeds(
    client: Client, database: Database
) -> None:
    cast = a_cast(database)
    key = a_key(database, cast.acme, cast.people["department colleague"])
    path = client.get("/api/v1/calendar-feeds/token", key).json()["feeds"]["team"]
    by = cast.acme.caller

    database.write_now(people_status.archive, cast.people["herself"].id, by=by, now=NOW)

    events = {event.uid: event for event in calendars.by_icalendar(client.get(path).content)}
    assert events[cast.requests[False, "approved"]].status == "CANCELLED"
    assert cast.requests[False, "pending"] not in events
