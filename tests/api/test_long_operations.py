"""SQLite's short writes run on the event loop: whatever may take long is to go to a thread."""

from __future__ import annotations

from typing import Final

from api.service import app
from tests.reachable import reached_by

# What takes the longer, the more people, requests or rows an organisation has.
GROWING: Final = frozenset(
    {
        "storage.events.audit.record_all",
        "storage.admin.departments._archived_members",
        "storage.leave.leave_rows.save_all",
        # Both redraw every open card of the organisation.
        "storage.leave.leave_types.update",
        "storage.admin.organisations.update",
        "storage.events.webhook_outbox.enqueue_all",
        "storage.events.notification_outbox.notify_all",
        "storage.admin.recalculation.lock_people",
        "storage.admin.recalculation.plan",
        "storage.admin.reassignment.awaiting",
        "storage.admin.reassignment.pending_of",
    }
)
# Calendars that follow the moon are worked out in some ten milliseconds a year.
SLOW: Final = frozenset(
    {"storage.directory.holiday_sets.holiday_count", "storage.directory.holiday_sets.year_of"}
)


def test_whatever_counts_or_routes_leave_anew_is_long() -> None:
    found = {
        one.operation_id: sorted(str(place) for place in reached_by(one) if str(place) in wanted)
        for one in app.OPERATIONS
        for wanted in [GROWING | SLOW]
        if not one.is_long
    }

    assert {name: places for name, places in found.items() if places} == {}


def test_whatever_can_be_tried_first_is_long() -> None:
    assert [
        one.operation_id for one in app.OPERATIONS if one.show_effects and not one.is_long
    ] == []


def test_every_long_thing_is_still_reached_by_some_operation() -> None:
    reached = {str(place) for one in app.OPERATIONS for place in reached_by(one)}

    assert reached >= GROWING | SLOW
