"""What a person's Slack status shows of their leave, and whose status Slack shows now.

Time is a row of half-days, numbered like ``Span.first_slot``: a morning begins at local midnight,
an afternoon at the organisation's midday. Leave and the free halves after it are one absence, which
ends with the first half that the person works.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from typing import Final, Literal
from zoneinfo import ZoneInfo

# For private types and those without an emoji; every workspace has it.
NEUTRAL_EMOJI: Final = "spiral_calendar_pad"


@dataclass(frozen=True, kw_only=True, slots=True)
class Halves:
    """The half-days of one person.

    ``leave`` has the leave type of each half that they are off, ``is_worked`` tells whether they
    would work a half without leave. Both know the halves from ``first_slot`` to ``last_slot``.
    """

    leave: Mapping[int, str]
    is_worked: Callable[[int], bool]
    first_slot: int
    last_slot: int
    midday_at: str
    timezone: str

    def slot_at(self, instant: datetime) -> int:
        day = instant.astimezone(ZoneInfo(self.timezone)).date()
        afternoon = 2 * day.toordinal() + 1
        return afternoon if self.begins_at(afternoon) <= instant else afternoon - 1

    def begins_at(self, slot: int) -> datetime:
        """In UTC. A midnight that clocks skip is the moment at which they are put forward."""
        clock = time.fromisoformat(self.midday_at) if slot % 2 else time.min
        local = datetime.combine(day_of(slot), clock, ZoneInfo(self.timezone))
        return local.astimezone(UTC)


def day_of(slot: int) -> date:
    return date.fromordinal(slot // 2)


@dataclass(frozen=True, kw_only=True, slots=True)
class Away:
    """An absence that goes on now.

    ``returns_on`` is the next day that the person works, None if none is known, and ``returns_at``
    the time (``HH:MM``) if they come back at midday. ``ends_at`` is when that half begins.
    """

    leave_type_id: str
    returns_on: date | None
    returns_at: str | None
    ends_at: datetime


def away_at(halves: Halves, instant: datetime) -> tuple[Away | None, datetime | None]:
    """The absence at that instant, and when the next half of leave begins or the absence ends.

    None where there is neither until ``halves.last_slot``.
    """
    now = halves.slot_at(instant)
    current = now
    while current >= halves.first_slot and current not in halves.leave:
        if halves.is_worked(current):
            break
        current -= 1
    if current not in halves.leave:
        return None, _first_leave(halves, now)
    leave_type_id, changes_at = halves.leave[current], None
    for slot in range(now + 1, halves.last_slot + 1):
        leave_type = halves.leave.get(slot)
        if leave_type is None and halves.is_worked(slot):
            away = Away(
                leave_type_id=leave_type_id,
                returns_on=day_of(slot),
                returns_at=halves.midday_at if slot % 2 else None,
                ends_at=halves.begins_at(slot),
            )
            return away, changes_at or away.ends_at
        if changes_at is None and leave_type not in (None, leave_type_id):
            changes_at = halves.begins_at(slot)
    away = Away(
        leave_type_id=leave_type_id,
        returns_on=None,
        returns_at=None,
        ends_at=halves.begins_at(halves.last_slot + 1),
    )
    return away, changes_at or away.ends_at


def _first_leave(halves: Halves, now: int) -> datetime | None:
    following = [slot for slot in halves.leave if slot > now]
    return halves.begins_at(min(following)) if following else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """A status as Slack has it: the emoji in colons, and when Slack removes it."""

    text: str
    emoji: str
    expires_at: datetime | None

    def is_shown(self, now: datetime) -> bool:
        has_content = bool(self.text or self.emoji)
        return has_content and (self.expires_at is None or self.expires_at > now)


@dataclass(frozen=True, kw_only=True, slots=True)
class Known:
    """What Hiatus knows of the statuses that it has set.

    ``sent`` is the last one that it sent to Slack, and ``shown`` the last one that Slack confirmed,
    as Slack has it. ``is_unconfirmed``: Slack did not answer to ``sent``.
    """

    sent: Status | None = None
    shown: Status | None = None
    is_unconfirmed: bool = False

    def may_be_shown(self, now: datetime) -> bool:
        return any(
            status is not None and status.is_shown(now) for status in (self.sent, self.shown)
        )

    def is_current(self, wanted: Status | None, now: datetime) -> bool:
        """Whether Slack needs no call: it shows what is wanted, or nothing that Hiatus set."""
        if wanted is None:
            return not self.may_be_shown(now)
        return wanted == self.sent and not self.is_unconfirmed


# "keep": it is as wanted. "forget": nothing of Hiatus's is left. "leave_alone": the person changed
# or removed Hiatus's status, so the rest of the absence is theirs. "wait": they had one before.
Step = Literal["set", "clear", "keep", "forget", "leave_alone", "wait"]


def next_step(wanted: Status | None, current: Status, known: Known, now: datetime) -> Step:
    """What to do about the status that Slack shows now."""
    is_shown = current.is_shown(now)
    is_own = is_shown and current in (known.shown, known.sent)
    if wanted is None:
        return "clear" if is_own else "forget"
    if not is_own and known.may_be_shown(now) and not known.is_unconfirmed:
        return "leave_alone"
    if is_shown and current == wanted:
        return "keep"
    return "set" if is_own or not is_shown else "wait"
