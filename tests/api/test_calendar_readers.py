"""How other programs read our calendars, with hostile names in them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from api.feeds import ical
from storage.admin import people
from storage.base.values import HalfDay
from storage.db.database import Database
from storage.leave import decisions, leave_requests, leave_types
from tests import calendars
from tests.api.conftest import Client, a_key
from tests.api.test_ical import FEED, HOLIDAY, HOURS, OTHERS, OWN
from tests.builders import (
    NOW,
    a_department,
    a_person,
    a_request,
    an_organisation,
    caller_for,
    type_id,
)

pytestmark = pytest.mark.shared_database

PIECES = (
    "\r\n",
    "\n",
    "\r",
    "\t",
    "\x00",
    "\x1b[31m",
    "\x7f",
    "\x85",
    "\u2028",
    "\u202e",
    "\u200f",
    "\ufeff",
    "\\",
    "\\n",
    "\\N",
    "\\,",
    ";",
    ",",
    ":",
    '"',
    "'",
    "^n",
    "BEGIN:VEVENT",
    "END:VCALENDAR",
    "ATTACH:file:///etc/passwd",
    "=",
    " ",
    "\u00e9",
    "e\u0301",
    "\u05d0\u05d1",
    "\u0627\u0644",
    "\U0001f469\u200d\U0001f4bb",
    "\U00010348",
    "\u4e2d" * 30,
    "x" * 76,
)
HOSTILE = st.one_of(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=12).map("".join),
    st.text(max_size=150),
)


def shown(text: str) -> str:
    """The text as a calendar has it: on one line, without control or bidirectional characters."""
    text = re.sub("[\u202a-\u202e\u2066-\u2069]", "", text)
    return re.sub(r"[\s\x00-\x1f\x7f-\x9f\ufeff]+", " ", text).strip()


# Each example starts node; making a failing one smaller would take minutes.
@pytest.mark.slow
@settings(max_examples=8, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.lists(st.tuples(HOSTILE, HOSTILE), min_size=30, max_size=60))
def test_four_readers_see_the_same_hostile_texts(texts: list[tuple[str, str]]) -> None:
    absences = [
        replace(
            OTHERS,
            request_id=f"01950000-0000-7000-8000-{number:012}",
            person_name=name,
            summary_type=kind,
        )
        for number, (name, kind) in enumerate(texts)
    ]
    rendered = ical.render_feed(FEED, [ical.render_event(absence, HOURS) for absence in absences])

    [events] = calendars.read_by_all([rendered])

    labels = [shown(kind) or "Away" for _, kind in texts]
    assert [event.categories for event in events] == [(label,) for label in labels]
    assert [event.summary for event in events] == [
        f"{shown(name)}: {label}" if shown(name) else label
        for (name, _), label in zip(texts, labels, strict=True)
    ]


@given(HOSTILE, HOSTILE)
def test_no_line_is_longer_than_75_octets_nor_cut_inside_a_character(name: str, kind: str) -> None:
    absence = replace(OTHERS, person_name=name, summary_type=kind)
    rendered = ical.render_feed(replace(FEED, name=name), [ical.render_event(absence, HOURS)])

    for line in rendered.removesuffix(b"\r\n").split(b"\r\n"):
        assert len(line) <= 75
        line.decode("utf-8")
        assert b"\n" not in line
        assert b"\r" not in line


def test_four_readers_see_the_same_halves_and_holidays() -> None:
    halves: list[tuple[HalfDay | None, HalfDay | None]] = [
        (None, None),
        ("am", None),
        ("pm", None),
        (None, "am"),
        ("pm", "am"),
    ]
    events = [
        ical.render_event(
            replace(
                OWN,
                request_id=f"01950000-0000-7000-8000-{number:012}",
                end_date=date(2026, 4, 2) if halves_asked == ("pm", "am") else OWN.start_date,
                start_half_day=halves_asked[0],
                end_half_day=halves_asked[1],
            ),
            HOURS,
        )
        for number, halves_asked in enumerate(halves)
    ]
    events += [
        ical.render_holiday(HOLIDAY, HOURS),
        ical.render_holiday(replace(HOLIDAY, day=date(2026, 12, 24), half="pm"), HOURS),
    ]

    [read] = calendars.read_by_all([ical.render_feed(FEED, events)])

    assert [(event.starts, event.ends) for event in read] == [
        ("2026-03-02", "2026-03-03"),
        ("2026-03-02T09:00:00Z", "2026-03-02T13:00:00Z"),
        ("2026-03-02T13:00:00Z", "2026-03-02T17:00:00Z"),
        ("2026-03-02T09:00:00Z", "2026-03-02T13:00:00Z"),
        ("2026-03-02T13:00:00Z", "2026-04-02T12:00:00Z"),
        ("2026-12-24T13:00:00Z", "2026-12-24T17:00:00Z"),
        ("2026-12-25", "2026-12-26"),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        'O\'Neil; R&D, \\n "Bob"',
        "\U0001f469\u200d\U0001f4bb \u200fevil",
        "BEGIN:VEVENT END:VCALENDAR " * 5,
        "\u05d0\u05d1\u05d2 \u0627\u0644\u0639" * 12,
    ],
)
def test_four_readers_see_hostile_names_and_notes_of_the_service(
    client: Client, database: Database, text: str
) -> None:
    acme = an_organisation(database)
    department = a_department(database, acme, name=text[:100])
    ada = a_person(database, acme, department_id=department.id)
    grace = a_person(database, acme, first_name="Grace", department_id=department.id)
    by = acme.caller
    leave_request = a_request(database, acme, ada, note=f"note {text}")
    database.write_now(decisions.approve, leave_request.id, by=by, now=NOW)
    pending = a_request(database, acme, ada, start_date=date(2026, 8, 10), note=f"note {text}")
    database.write_now(people.update, ada.id, {"last_name": text[:100]}, by=by, now=NOW)
    annual = type_id(database, acme)
    database.write_now(leave_types.update, annual, {"name": text[:100]}, by=by, now=NOW)

    for viewer in (ada, grace):
        key = a_key(database, acme, viewer)
        paths = client.get("/api/v1/calendar-feeds/token", key).json()["feeds"]
        named = client.post("/api/v1/calendar-feeds", key, json={"name": text[:100]}).json()
        contents = [client.get(path).content for path in (*paths.values(), named["url"])]

        read = calendars.read_by_all(contents)

        for content, events in zip(contents, read, strict=True):
            own = [event for event in events if not event.uid.startswith("holiday-")]
            assert {event.uid for event in own} <= {leave_request.id, pending.id}
            assert all(shown(text[:100]) in event.summary for event in own)
            assert b"note" not in content
            assert content.count(b"\r\nBEGIN:VEVENT") == len(events)


def test_a_withdrawn_request_is_read_as_cancelled(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    leave_request = a_request(database, acme, ada)
    by = caller_for(acme, ada)
    database.write_now(
        leave_requests.edit, leave_request.id, {"end_date": date(2026, 8, 4)}, by=by, now=NOW
    )
    database.write_now(leave_requests.cancel, leave_request.id, by=by, now=NOW)
    key = a_key(database, acme, ada)
    path = client.get("/api/v1/calendar-feeds/token", key).json()["feeds"]["personal"]

    [events] = calendars.read_by_all([client.get(path).content])

    [event] = [event for event in events if event.uid == leave_request.id]
    assert (event.status, event.sequence, event.transparency) == ("CANCELLED", 3, "TRANSPARENT")
    assert (event.starts, event.ends) == ("2026-08-03", "2026-08-05")
