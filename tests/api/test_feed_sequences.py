"""An event's contents never change without a higher SEQUENCE, for every kind of change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from icalendar import Calendar

from api.service import app
from storage.admin import departments, holiday_overrides, organisation_settings, people
from storage.admin.holiday_overrides import NewOverride
from storage.base.errors import DomainError
from storage.base.leave_values import HalfDay, LeaveRequest
from storage.base.values import Caller, User
from storage.db.database import Database
from storage.leave import decisions, leave_requests, leave_types
from storage.outbox import organisation_config
from storage.people import people_rows
from tests.api.conftest import SETTINGS, Client
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_person,
    a_request,
    an_organisation,
    caller_for,
    personal_token,
    type_id,
)

pytestmark = [pytest.mark.both_engines, pytest.mark.shared_database]

SCOPES: Final = ("personal", "team", "org")
# All other lines are the event's contents.
NUMBERS: Final = ("SEQUENCE", "DTSTAMP", "LAST-MODIFIED")


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """One event of one feed."""

    sequence: int
    stamp: datetime
    modified: datetime
    contents: str


class Clock:
    def __init__(self) -> None:
        self.now = NOW + timedelta(hours=1)

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """Ada and Grace are of one department, and each has leave, which Hedy covers.

    ``other`` is a second process.
    """

    database: Database
    acme: Acme
    ada: User
    grace: User
    hedy: User
    requests: list[LeaveRequest]
    clock: Clock
    client: Client
    other: Client
    paths: list[str]

    def write(self, use_case: Callable[..., Any], *args: Any, **more: Any) -> Any:
        """Run a use case as the organisation's owner, at the clock's time."""
        by: Caller = more.pop("by", self.acme.caller)
        return self.database.write_now(use_case, *args, by=by, now=self.clock.now, **more)

    def read(self) -> dict[str, bytes]:
        """The contents of every feed."""
        return {path: self.client.get(path).content for path in self.paths}


def a_world(database: Database, client: Client, other: Client, clock: Clock) -> World:
    acme = an_organisation(database, country_code="GB-ENG")
    department = a_department(database, acme)
    ada = a_person(database, acme, department_id=department.id)
    grace = a_person(
        database, acme, first_name="Grace", department_id=department.id, timezone="Asia/Tokyo"
    )
    hedy = a_person(database, acme, first_name="Hedy")
    requests = []
    for person in (ada, grace):
        for week, code in enumerate(("annual", "sick", "annual")):
            half: HalfDay | None = "am" if week == 2 else None
            monday = date(2026, 8, 3) + timedelta(weeks=week)
            leave_request = a_request(
                database,
                acme,
                person,
                start_date=monday,
                code=code,
                start_half_day=half,
                cover_user_id=hedy.id,
            )
            requests.append(leave_request)
        acme.write(decisions.approve, requests[-1].id)
    tokens = [
        database.write_now(personal_token, by=caller_for(acme, person), now=NOW)
        for person in (ada, grace)
    ]
    paths = [f"/cal/{token}?scope={scope}" for token in tokens for scope in SCOPES]
    return World(
        database=database,
        acme=acme,
        ada=ada,
        grace=grace,
        hedy=hedy,
        requests=requests,
        clock=clock,
        client=client,
        other=other,
        paths=paths,
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def clients(database: Database, clock: Clock) -> Iterator[tuple[Client, Client]]:
    def a_client() -> Client:
        return Client(app.application(app.routes(database, SETTINGS, clock), SETTINGS))

    client, other = a_client(), a_client()
    yield client, other
    client.close()
    other.close()


@pytest.fixture
def world(database: Database, clients: tuple[Client, Client], clock: Clock) -> World:
    return a_world(database, *clients, clock)


def events_of(contents: bytes) -> dict[str, Shown]:
    events = {}
    for event in Calendar.from_ical(contents).walk("VEVENT"):
        lines = event.to_ical().decode().split("\r\n")
        events[str(event["uid"])] = Shown(
            sequence=int(str(event["sequence"])),
            stamp=event.decoded("dtstamp"),
            modified=event.decoded("last-modified"),
            contents="\n".join(line for line in lines if not line.startswith(NUMBERS)),
        )
    return events


def check(path: str, seen: Mapping[str, Shown], now_shown: Mapping[str, Shown]) -> None:
    """Check the feed for a calendar that has stored ``seen``."""
    for uid, after in now_shown.items():
        before = seen.get(uid)
        if before is None:
            continue
        numbers = (before.sequence, before.stamp, before.modified)
        if after.contents != before.contents:
            assert after.sequence > before.sequence, (path, before, after)
            assert after.stamp > before.stamp, (path, before, after)
            assert after.modified > before.modified, (path, before, after)
        assert (after.sequence, after.stamp, after.modified) >= numbers, (path, before, after)


names = st.sampled_from(["Ada", "Grace", "Hedy", "Å;,\\n"])
clocks = st.sampled_from([("08:00", "12:00", "16:00"), ("09:00", "13:00", "17:00")])
zones = st.sampled_from(["Europe/London", "Asia/Tokyo", "America/New_York"])
persons = st.integers(0, 1)
picked = st.integers(0, 5)
codes = st.sampled_from(["annual", "sick"])


def set_hours(world: World, hours: tuple[str, str, str]) -> None:
    changed = dict(zip(("day_starts_at", "midday_at", "day_ends_at"), hours, strict=True))
    world.write(organisation_settings.update, changed)


def set_organisation(world: World, changes: dict[str, Any]) -> None:
    world.write(organisation_settings.update, changes)


def set_person(world: World, which: int, changes: dict[str, str | None]) -> None:
    world.write(people.update, (world.ada, world.grace)[which].id, changes)


def rename_cover(world: World, name: str) -> None:
    world.write(people.update, world.hedy.id, {"first_name": name})


def set_type(world: World, code: str, changes: dict[str, Any]) -> None:
    world.write(leave_types.update, type_id(world.database, world.acme, code), changes)


def set_department(world: World, which: int) -> None:
    person = (world.ada, world.grace)[which]
    current = world.database.read_now(people_rows.get, person.id, by=world.acme.caller)
    moved = None if current.department_id else world.ada.department_id
    world.write(people.update, person.id, {"department_id": moved})


def head_department(world: World, which: int) -> None:
    head = {"manager_id": (world.ada, world.grace)[which].id}
    world.write(departments.update, str(world.ada.department_id), head)


def step(world: World, name: str, which: int) -> None:
    request = world.requests[which]
    if name in ("approved", "declined"):
        world.write(decisions.change_decision, request.id, name)
    elif name == "edit":
        world.write(leave_requests.edit, request.id, {"end_half_day": "pm", "start_half_day": "pm"})
    elif name in ("cover", "uncover"):
        cover_user_id = world.hedy.id if name == "cover" else None
        world.write(leave_requests.edit, request.id, {"cover_user_id": cover_user_id})
    elif name == "decline":
        world.write(decisions.decline, request.id, reason=None)
    elif name == "approve":
        world.write(decisions.approve, request.id)
    else:
        assert name == "cancel"
        world.write(leave_requests.cancel, request.id)


def override_holiday(world: World, name: str, half: HalfDay | None) -> None:
    config = world.database.read_now(organisation_config.of_organisation, world.acme.id)
    (holiday_set,) = config.holiday_sets
    override = NewOverride(date=date(2026, 12, 24), name=name, half=half)
    world.write(holiday_overrides.add, holiday_set, override)


def build(kind: Callable[..., None], *values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(st.just(kind), st.tuples(*values))


changes = st.one_of(
    build(set_hours, clocks),
    build(set_organisation, st.fixed_dictionaries({"timezone": zones})),
    build(set_organisation, st.fixed_dictionaries({"name": names})),
    build(set_person, persons, st.fixed_dictionaries({"first_name": names})),
    build(set_person, persons, st.fixed_dictionaries({"timezone": zones | st.none()})),
    build(set_type, codes, st.fixed_dictionaries({"name": names})),
    build(set_type, codes, st.fixed_dictionaries({"is_private": st.booleans()})),
    build(set_type, codes, st.fixed_dictionaries({"is_away": st.booleans()})),
    build(
        set_type, codes, st.fixed_dictionaries({"colour": st.sampled_from(["#ff0000", "#0000ff"])})
    ),
    build(rename_cover, names),
    build(set_department, persons),
    build(head_department, persons),
    build(
        step,
        st.sampled_from(
            ["approve", "decline", "cancel", "edit", "cover", "uncover", "approved", "declined"]
        ),
        picked,
    ),
    build(override_holiday, names, st.sampled_from([None, "am", "pm"])),
)


@pytest.mark.slow
@settings(
    max_examples=5,
    # Shrinking would take minutes.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(history=st.lists(st.tuples(changes, st.integers(1, 300)), min_size=4, max_size=10))
def test_changed_events_have_a_higher_sequence_and_a_later_stamp(
    database: Database,
    clients: tuple[Client, Client],
    clock: Clock,
    history: list[tuple[tuple[Callable[..., None], tuple[Any, ...]], int]],
) -> None:
    world = a_world(database, *clients, clock)
    events: dict[str, dict[str, Shown]] = {path: {} for path in world.paths}
    before = world.read()
    for (change, values), seconds in history:
        # As a calendar keeps them: also events that the feed no longer holds.
        for path, contents in before.items():
            events[path] |= events_of(contents)
        clock.now += timedelta(seconds=seconds)
        try:
            change(world, *values)
        except DomainError:
            assert world.read() == before
        before = world.read()
        for path, contents in before.items():
            check(path, events[path], events_of(contents))
    for path, contents in before.items():
        assert world.other.get(path).content == contents


# Changes to events without a new version of any leave request.
SILENT_CHANGES: Final[Mapping[str, Callable[[World], None]]] = {
    "a person renamed": lambda world: set_person(world, 0, {"last_name": "King"}),
    "a cover renamed": lambda world: rename_cover(world, "Joan"),
    "a type renamed": lambda world: set_type(world, "annual", {"name": "Holiday"}),
    "a type recoloured": lambda world: set_type(world, "annual", {"colour": "#ff0000"}),
    "hours moved": lambda world: set_hours(world, ("08:00", "12:00", "16:00")),
    "a time zone moved": lambda world: set_organisation(world, {"timezone": "Asia/Tokyo"}),
    "a person's time zone moved": lambda world: set_person(
        world, 0, {"timezone": "America/New_York"}
    ),
    "a type made private": lambda world: set_type(world, "annual", {"is_private": True}),
    "a type no longer away": lambda world: set_type(world, "annual", {"is_away": False}),
    "a type away again": lambda world: set_type(world, "annual", {"is_away": True}),
}


def test_a_change_outside_the_request_raises_every_sequence_by_one(world: World) -> None:
    (path,) = [path for path in world.paths[3:] if path.endswith("org")]
    before = events_of(world.client.get(path).content)

    for name, change in SILENT_CHANGES.items():
        world.clock.now += timedelta(hours=1)
        change(world)

        after = events_of(world.client.get(path).content)
        assert after.keys() == before.keys()
        assert any(after[uid].contents != before[uid].contents for uid in after), name
        for uid, event in after.items():
            assert event.sequence == before[uid].sequence + 1, name
            assert event.stamp == event.modified == world.clock.now > before[uid].stamp, name
        before = after


def test_invisible_changes_leave_every_sequence(world: World) -> None:
    before = world.read()

    set_organisation(world, {"default_leave_allowance_half_days": 60})
    set_type(world, "annual", {"requires_note": True})
    set_person(world, 0, {"job_title": "Countess"})

    assert world.read() == before
