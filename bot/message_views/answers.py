"""Responses to the command's subcommands; they are ephemeral."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext, gettext_noop
from bot.blocks import text, words
from storage.base.calendar_values import Absence
from storage.base.values import LeaveRequest, LeaveType
from storage.db.pages import Page
from storage.leave.ledgers import Balance
from storage.rules.changed_leave import CancelEffect

# A message has at most 50 blocks; App Home shows the complete lists.
MAX_OWN: Final = 20
MAX_AWAY: Final = 20
# Twenty names with dates and covers fit in a section.
_MAX_NAME: Final = 35


@dataclass(frozen=True, kw_only=True, slots=True)
class Away:
    """Absences between two days, both inclusive; ``everyone`` includes the team."""

    today: date
    first_day: date
    last_day: date
    team: Page[Absence]
    everyone: Page[Absence]


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnLeave:
    """The user's own leave, the leave types, and what cancelling does where it is possible."""

    page: Page[LeaveRequest]
    leave_types: Mapping[str, LeaveType]
    cancel_effects: Mapping[str, CancelEffect]


def balance(balance: Balance) -> Message:
    lines = [
        gettext(
            "*{left} left* in the leave year {first} to {last}",
            left=_days(balance.remaining_half_days),
            first=words.day(balance.year.first_day),
            last=words.day(balance.year.last_day),
        ),
        gettext(
            "Allowance: {entitled}. Approved: {approved}. Pending: {waiting}.",
            entitled=_days(balance.entitled_half_days),
            approved=_days(balance.taken_half_days),
            waiting=_days(balance.pending_half_days),
        ),
    ]
    if balance.lapsing_half_days and balance.lapsing_after is not None:
        lines.append(
            gettext(
                "Includes {lapsing} carried over, to use by {day}.",
                lapsing=_days(balance.lapsing_half_days),
                day=words.day(balance.lapsing_after),
            )
        )
    return {"text": "\n".join(lines)}


def out(away: Away) -> Message:
    """Absences: first the team, then everyone else."""
    when = _period(away)
    if not away.everyone.items:
        return {"text": gettext("No one is off {when}.", when=when)}
    teammates = {absence.request_id for absence in away.team.items}
    others = [absence for absence in away.everyone.items if absence.request_id not in teammates]
    groups = [
        _group(
            gettext("On your team, off {when}:", when=when), away.team.items, away.team.next_cursor
        ),
        _group(
            gettext("Others off {when}:", when=when)
            if teammates
            else gettext("Off {when}:", when=when),
            others,
            away.everyone.next_cursor,
        ),
    ]
    return _message([group for group in groups if len(group) > 1])


def _period(away: Away) -> str:
    first, last = words.short_day(away.first_day), words.short_day(away.last_day)
    if away.first_day == away.last_day == away.today:
        return gettext("today, {day}", day=first)
    if away.first_day == away.last_day:
        return gettext("on {day}", day=first)
    if away.first_day == away.today:
        return gettext("from today until {day}", day=last)
    return gettext("from {first} until {last}", first=first, last=last)


def own_leave(own: OwnLeave) -> Message:
    """Upcoming leave and pending requests."""
    if not own.page.items:
        return {"text": gettext(_NOTHING)}
    lines = [f"• {_what(request, own)}: {_state(request)}" for request in own.page.items]
    return _message([[gettext("Your leave:"), *lines, *_more(own.page.next_cursor)]])


def own_leave_to_cancel(own: OwnLeave, result: str = "") -> Message:
    """As ``own_leave``, with a cancel button each; ``result`` is that of the last click."""
    if not own.page.items:
        return {"text": f"{result} {gettext(_NOTHING)}".strip(), "blocks": []}
    shown = [request for request in own.page.items if request.id in own.cancel_effects]
    heading = gettext("Leave you can cancel:") if shown else gettext("There's nothing to cancel.")
    heading = f"{result} {heading}".strip()
    lines = [_what(request, own) for request in shown]
    blocks = [text.paragraph(heading)]
    blocks += [_with_button(request, own) for request in shown]
    if len(shown) < len(own.page.items):
        running = gettext(
            "Leave that has begun isn't listed. To end it today, choose Change on my Home tab."
        )
        blocks.append(text.quiet(running))
        lines.append(running)
    if own.page.next_cursor is not None:
        blocks.append(text.quiet(gettext(_MORE)))
    return {"text": _fallback([heading, *lines]), "blocks": blocks}


GOES_BACK: Final = gettext_noop(
    "The days go back to the leave that it replaced, unless that leave was cancelled or moved."
)
_NOTHING: Final = gettext_noop("You have no upcoming leave or pending requests.")
_MORE: Final = gettext_noop("… and more")
_STATE: Final = {"pending": gettext_noop("awaiting approval"), "approved": gettext_noop("approved")}


def _state(request: LeaveRequest) -> str:
    if request.amendment_id is not None:
        return gettext("approved, a change is awaiting approval")
    return gettext(_STATE[request.status])


def _what(request: LeaveRequest, own: OwnLeave) -> str:
    name = text.cut(own.leave_types[request.leave_type_id].name, _MAX_NAME)
    when = words.span(
        request.start_date, request.end_date, request.start_half_day, request.end_half_day
    )
    return f"{when}, {words.amount(request.total_half_days)}, {name}"


def _with_button(request: LeaveRequest, own: OwnLeave) -> Block:
    what = _what(request, own)
    return {
        "type": "section",
        "text": text.verbatim(f"{what}: {_state(request)}"),
        "accessory": cancel_button(
            ids.CANCEL_LISTED,
            request,
            what,
            needs_approval=own.cancel_effects[request.id] == "amendment",
        ),
    }


def cancel_button(
    action_id: str, request: LeaveRequest, what: str, *, needs_approval: bool = False
) -> Block:
    """A cancel button with a confirmation dialogue; ``what`` is plain text."""
    return {
        "type": "button",
        "action_id": action_id,
        "text": text.plain(gettext("Cancel leave")),
        "style": "danger",
        "value": request.id,
        "confirm": {
            "title": text.plain(gettext("Cancel this leave?")),
            "text": text.verbatim(
                what_is_cancelled(request, what, needs_approval=needs_approval), 300
            ),
            "confirm": text.plain(gettext("Cancel leave")),
            "deny": text.plain(gettext("Keep it")),
        },
    }


def what_is_cancelled(request: LeaveRequest, what: str, *, needs_approval: bool = False) -> str:
    """The text of the confirmation; ``what`` is the leave in plain text."""
    more = []
    if request.interrupts is not None:
        more.append(gettext(GOES_BACK))
    if needs_approval:
        more.append(gettext("Your approver has to agree."))
    return " ".join((f"{what.rstrip('.')}.", *more)) if more else what


def _group(heading: str, absences: Sequence[Absence], next_cursor: str | None) -> list[str]:
    return [heading, *map(_line, absences), *(_more(next_cursor) if absences else [])]


def _more(next_cursor: str | None) -> list[str]:
    return [] if next_cursor is None else [gettext(_MORE)]


def _line(absence: Absence) -> str:
    name = gettext("You") if absence.is_own else text.cut(absence.person_name, _MAX_NAME)
    what = (
        gettext("Away")
        if absence.summary_type is None
        else text.cut(absence.summary_type, _MAX_NAME)
    )
    when = words.span(
        absence.start_date, absence.end_date, absence.start_half_day, absence.end_half_day
    )
    cover_name = absence.cover_name and text.cut(absence.cover_name, _MAX_NAME)
    return words.with_cover(f"• {name}: {when} ({what})", cover_name)


def _message(groups: Sequence[Sequence[str]]) -> Message:
    """A section for each group, and a fallback text as long as Slack allows."""
    blocks = [text.paragraph("\n".join(group)) for group in groups]
    return {"text": _fallback([line for group in groups for line in group]), "blocks": blocks}


def _fallback(lines: Sequence[str]) -> str:
    fallback = ""
    for line in lines:
        longer = f"{fallback}\n{text.escaped(line)}".strip()
        if len(longer) > text.MAX_MESSAGE:
            break
        fallback = longer
    return fallback


def _days(half_days: int) -> str:
    return words.amount(half_days) if half_days else gettext("no days")
