"""What the words of the command are answered with; only the person who typed them reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext, gettext_noop
from bot.views import text, words
from storage.base.calendar_values import Absence
from storage.base.values import LeaveRequest, LeaveType
from storage.db.pages import Page
from storage.leave.ledgers import Balance

# A message has at most 50 blocks; nobody reads more, and App Home has all of it.
MOST_OWN: Final = 20
MOST_AWAY: Final = 20
# So that twenty of them with their dates fit into a section.
_LONGEST_NAME: Final = 35


@dataclass(frozen=True, kw_only=True, slots=True)
class Away:
    """Who is off between two days, both included; ``everybody`` has the team in it, too."""

    first_day: date
    last_day: date
    team: Page[Absence]
    everybody: Page[Absence]


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnLeave:
    """Somebody's own leave, and the types that it is of."""

    page: Page[LeaveRequest]
    leave_types: Mapping[str, LeaveType]


def balance(found: Balance) -> Message:
    """What is left of the leave year, and how that comes about."""
    told = [
        gettext(
            "*{left} left* in the leave year {first} to {last}",
            left=_days(found.remaining_half_days),
            first=words.day(found.year.first_day),
            last=words.day(found.year.last_day),
        ),
        gettext(
            "Allowance: {entitled}. Approved: {approved}. Pending: {waiting}.",
            entitled=_days(found.entitled_half_days),
            approved=_days(found.taken_half_days),
            waiting=_days(found.pending_half_days),
        ),
    ]
    if found.lapsing_half_days and found.lapsing_after is not None:
        told.append(
            gettext(
                "Includes {lapsing} carried over, to use by {day}.",
                lapsing=_days(found.lapsing_half_days),
                day=words.day(found.lapsing_after),
            )
        )
    return {"text": "\n".join(told)}


def out(away: Away) -> Message:
    """Who is off: first of the team, then of everybody else."""
    when = gettext("today, {day}", day=words.short_day(away.first_day))
    if away.first_day != away.last_day:
        when = gettext("from today until {day}", day=words.short_day(away.last_day))
    if not away.everybody.items:
        return {"text": gettext("No one is off {when}.", when=when)}
    teammates = {one.request_id for one in away.team.items}
    others = [one for one in away.everybody.items if one.request_id not in teammates]
    groups = [
        _group(
            gettext("On your team, off {when}:", when=when), away.team.items, away.team.next_cursor
        ),
        _group(
            gettext("Others off {when}:", when=when)
            if teammates
            else gettext("Off {when}:", when=when),
            others,
            away.everybody.next_cursor,
        ),
    ]
    return _message([group for group in groups if len(group) > 1])


def own_leave(found: OwnLeave) -> Message:
    """What somebody has before him and waits for."""
    if not found.page.items:
        return {"text": gettext(_NOTHING)}
    lines = [f"• {_what(one, found)}: {gettext(_STATE[one.status])}" for one in found.page.items]
    return _message([[gettext("Your leave:"), *lines, *_more(found.page.next_cursor)]])


def own_leave_to_cancel(found: OwnLeave, told: str = "") -> Message:
    """The same, each with a button; ``told`` says what was just done."""
    if not found.page.items:
        return {"text": f"{told} {gettext(_NOTHING)}".strip(), "blocks": []}
    heading = gettext("Leave you can cancel:")
    heading = f"{told} {heading}".strip()
    lines = [_what(one, found) for one in found.page.items]
    blocks = [text.paragraph(heading)]
    blocks += [_with_button(one, found) for one in found.page.items]
    if found.page.next_cursor is not None:
        blocks.append(text.quiet(gettext(_MORE)))
    return {"text": _fallback([heading, *lines]), "blocks": blocks}


_NOTHING: Final = gettext_noop("You have no upcoming leave or pending requests.")
_MORE: Final = gettext_noop("… and more")
_STATE: Final = {"pending": gettext_noop("awaiting approval"), "approved": gettext_noop("approved")}


def _what(request: LeaveRequest, found: OwnLeave) -> str:
    name = text.cut(found.leave_types[request.leave_type_id].name, _LONGEST_NAME)
    when = words.span(
        request.start_date, request.end_date, request.start_half_day, request.end_half_day
    )
    return f"{when}, {words.amount(request.total_half_days)}, {name}"


def _with_button(request: LeaveRequest, found: OwnLeave) -> Block:
    what = _what(request, found)
    return {
        "type": "section",
        "text": text.verbatim(f"{what}: {gettext(_STATE[request.status])}"),
        "accessory": cancel_button(ids.CANCEL_LISTED, request, what),
    }


def cancel_button(action_id: str, request: LeaveRequest, what: str) -> Block:
    """Cancels a request once its owner has said that he means it; ``what`` is plain text."""
    return {
        "type": "button",
        "action_id": action_id,
        "text": text.plain(gettext("Cancel leave")),
        "style": "danger",
        "value": request.id,
        "confirm": {
            "title": text.plain(gettext("Cancel this leave?")),
            "text": text.verbatim(what, 300),
            "confirm": text.plain(gettext("Cancel leave")),
            "deny": text.plain(gettext("Keep it")),
        },
    }


def _group(heading: str, absences: Sequence[Absence], next_cursor: str | None) -> list[str]:
    return [heading, *map(_line, absences), *(_more(next_cursor) if absences else [])]


def _more(next_cursor: str | None) -> list[str]:
    return [] if next_cursor is None else [gettext(_MORE)]


def _line(one: Absence) -> str:
    name = gettext("You") if one.is_own else text.cut(one.person_name, _LONGEST_NAME)
    what = (
        gettext("Away") if one.summary_type is None else text.cut(one.summary_type, _LONGEST_NAME)
    )
    when = words.span(one.start_date, one.end_date, one.start_half_day, one.end_half_day)
    return f"• {name}: {when} ({what})"


def _message(groups: Sequence[Sequence[str]]) -> Message:
    """Each group as a paragraph of plain text, and as much of it as fits for screen readers."""
    blocks = [text.paragraph("\n".join(group)) for group in groups]
    return {"text": _fallback([line for group in groups for line in group]), "blocks": blocks}


def _fallback(lines: Sequence[str]) -> str:
    said = ""
    for line in lines:
        longer = f"{said}\n{text.escaped(line)}".strip()
        if len(longer) > text.LONGEST_MESSAGE:
            break
        said = longer
    return said


def _days(half_days: int) -> str:
    return words.amount(half_days) if half_days else gettext("no days")
