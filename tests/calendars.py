"""Calendars as four independent libraries read them: icalendar, vobject, ics and ical.js."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any

import ics
import vobject
from icalendar import Calendar

from tests import javascript


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Read:
    """One event; ``starts`` and ``ends`` are ``2026-08-03`` or ``2026-08-03T08:00:00Z``."""

    uid: str
    sequence: int
    summary: str
    status: str
    transparency: str
    categories: tuple[str, ...]
    starts: str
    ends: str


def by_icalendar(content: bytes) -> list[Read]:
    return [
        Read(
            uid=str(event["uid"]),
            sequence=int(str(event["sequence"])),
            summary=str(event["summary"]),
            status=str(event["status"]),
            transparency=str(event["transp"]),
            categories=tuple(map(str, event.categories)),
            starts=_moment(event.decoded("dtstart")),
            ends=_moment(event.decoded("dtend")),
        )
        for event in Calendar.from_ical(content).events
    ]


def by_vobject(content: bytes) -> list[Read]:
    calendar = vobject.readOne(content.decode())
    calendar.validate(raiseException=True)
    return [
        Read(
            uid=event.uid.value,
            sequence=int(event.sequence.value),
            summary=event.summary.value,
            status=event.status.value,
            transparency=event.transp.value,
            categories=tuple(event.categories.value),
            starts=_moment(event.dtstart.value),
            ends=_moment(event.dtend.value),
        )
        for event in calendar.contents.get("vevent", [])
    ]


def by_ics(content: bytes) -> list[Read]:
    calendar = ics.Calendar(content.decode())
    return sorted(_by_ics(event) for event in calendar.events)


def by_ical_js(contents: Sequence[bytes]) -> list[list[Read]]:
    """Many at once: starting node takes longer than reading does."""
    texts = json.dumps([content.decode() for content in contents])
    result = javascript.node("read-calendars.mjs", stdin=texts)
    assert result.returncode == 0, result.stderr
    return [
        [Read(**event | {"categories": tuple(event["categories"])}) for event in events]
        for events in json.loads(result.stdout)
    ]


def read_by_all(contents: Sequence[bytes]) -> list[list[Read]]:
    """The events of each calendar, sorted, once all four readers agree on them."""
    events_by_calendar = [sorted(by_icalendar(content)) for content in contents]
    for content, events in zip(contents, events_by_calendar, strict=True):
        assert sorted(by_vobject(content)) == events
        assert by_ics(content) == sorted(map(_as_ics_reads, events))
    assert [sorted(events) for events in by_ical_js(contents)] == events_by_calendar
    return events_by_calendar


def _as_ics_reads(event: Read) -> Read:
    """With a defect of ics: it reads an escaped backslash before an n as a line break."""
    return replace(
        event,
        summary=ics.utils.unescape_string(ics.utils.escape_string(event.summary)),
        categories=tuple(
            ics.utils.unescape_string(ics.utils.escape_string(category))
            for category in event.categories
        ),
    )


def _by_ics(event: ics.Event) -> Read:
    extra = {line.name: line.value for line in event.extra}
    if event.all_day:
        starts, ends = event.begin.date().isoformat(), event.end.date().isoformat()
    else:
        starts, ends = (_moment(time.datetime) for time in (event.begin, event.end))
    return Read(
        uid=event.uid,
        sequence=int(extra["SEQUENCE"]),
        summary=event.name,
        status=event.status,
        transparency="TRANSPARENT" if event.transparent else "OPAQUE",
        categories=tuple(event.categories),
        starts=starts,
        ends=ends,
    )


def _moment(value: Any) -> str:
    if isinstance(value, datetime):
        assert value.tzinfo is not None
        return value.astimezone(UTC).isoformat().replace("+00:00", "Z")
    assert isinstance(value, date)
    return value.isoformat()
