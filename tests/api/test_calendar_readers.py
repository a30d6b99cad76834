"""How other programs read our calendars, with hostile names in them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from api.feeds import ical
from storage.base.leave_values import HalfDay, TypeName
from tests import calendars
from tests.api.test_ical import FEED, HOLIDAY, HOURS, OTHERS, OWN

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
            summary_type=TypeName(kind),
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
    absence = replace(OTHERS, person_name=name, summary_type=TypeName(kind))
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
