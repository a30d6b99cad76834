"""Responses to the command: balances, lists of leave and help. They are ephemeral."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext, gettext_noop
from bot.blocks import balance_lines, layout, words
from bot.message_views import cards
from storage.base.allowance_values import Amount
from storage.base.calendar_values import Absence
from storage.base.environment import is_email_contact
from storage.base.leave_values import LeaveRequest, LeaveType
from storage.db.pages import Page
from storage.leave.ledgers import Balance
from storage.rules.lifecycle import CancelEffect

# A message has at most 50 blocks; App Home shows the complete lists.
MAX_OWN: Final = 20
MAX_AWAY: Final = 20
# Twenty names with dates and covers fit in a section.
_MAX_NAME: Final = 35
# Lines about balances, with the longest names of allowances.
_LINES_OF_SECTION: Final = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Away:
    """Absences between two days, both inclusive; ``everyone`` includes the team.

    ``elsewhere`` is the leave of people who are at work elsewhere: the team's, or everyone's for
    people without a department.
    """

    today: date
    first_day: date
    last_day: date
    team: Page[Absence]
    everyone: Page[Absence]
    elsewhere: Sequence[Absence] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class OwnLeave:
    """The user's own leave, the leave types, and what cancelling does where it is possible."""

    page: Page[LeaveRequest]
    leave_types: Mapping[str, LeaveType]
    cancel_effects: Mapping[str, CancelEffect]


def balance(balances: Sequence[Balance], today: date) -> Message:
    """The default allowance's balance, a line for each other one, and the button to the ledger."""
    balance, *others = balances
    lines = [] if balance.on == today else [gettext("On {day}:", day=words.day(balance.on))]
    lines += [
        gettext(
            "*{left} left* in the leave year {year}",
            left=_days(balance.remaining_half_days),
            year=words.leave_year(balance.year),
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
    lines += map(balance_lines.of_allowance, others)
    value = "" if balance.on == today else balance.on.isoformat()
    return {
        "text": _joined(lines, layout.MAX_MESSAGE),
        "blocks": [
            *(
                layout.section(_joined(lines[at : at + _LINES_OF_SECTION], layout.MAX_SECTION))
                for at in range(0, len(lines), _LINES_OF_SECTION)
            ),
            layout.actions(balance_lines.where_from(balance, value)),
        ],
    }


def _joined(lines: Sequence[str], longest: int) -> str:
    """The first lines, in mrkdwn already, that fit."""
    shown = ""
    for line in lines:
        longer = f"{shown}\n{line}".strip()
        if len(longer) > longest:
            break
        shown = longer
    return shown


def unknown_day(command: str, typed: str) -> Message:
    """The response to words after ``balance`` that are neither a day nor a year."""
    return {
        "text": gettext(
            "Sorry, I can't read “{typed}” as a day or a year. Try `{year}` or `{day}`.",
            typed=layout.escaped(layout.cut(layout.one_line(typed), _MAX_COMMAND)),
            year=f"{command} {gettext(BALANCE_EXAMPLES[0])}".strip(),
            day=f"{command} {gettext(BALANCE_EXAMPLES[1])}".strip(),
        )
    }


def what_would_be_left(command: str) -> Message:
    """The response to "how many days would be left if I took Christmas week?"."""
    return {
        "text": gettext(
            "Type only the days that you'd take, such as `{example}`. I show what would be left "
            "before anything is sent.",
            example=f"{command} {gettext(EXAMPLES[0])}".strip(),
        )
    }


def out(away: Away) -> Message:
    """Absences: first the team, then everyone else."""
    when = period(away.first_day, away.last_day, away.today)
    elsewhere = words.working_elsewhere(away.elsewhere, away.first_day, away.last_day)
    if not away.everyone.items:
        return _message([[gettext("No one is off {when}.", when=when), *elsewhere]])
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
    return _message([*(group for group in groups if len(group) > 1), elsewhere])


def period(first_day: date, last_day: date, today: date) -> str:
    """``today, Mon 3 August``, ``from today until Fri 7 August`` and so on."""
    first, last = words.short_day(first_day), words.short_day(last_day)
    if first_day == last_day == today:
        return gettext("today, {day}", day=first)
    if first_day == last_day:
        return gettext("on {day}", day=first)
    if first_day == today:
        return gettext("from today until {day}", day=last)
    return gettext("from {first} until {last}", first=first, last=last)


def own_leave(own: OwnLeave, unread: str = "") -> Message:
    """Upcoming leave and pending requests; ``unread`` are words that were not understood."""
    said = [layout.escaped(not_read(unread))] if unread else []
    if not own.page.items:
        return {"text": " ".join([*said, gettext(_NOTHING)])}
    lines = [f"• {_own_line(request, own)}" for request in own.page.items]
    heading = " ".join([*said, gettext("Your leave:")])
    return _message([[heading, *lines, *_more(own.page.next_cursor)]])


def not_read(words: str) -> str:
    """Plain text about words that were not understood, when the rest is answered."""
    return gettext("I didn't read “{words}”.", words=layout.cut(words, layout.MAX_NAME))


def beside_unread(answer: Message, unread: str) -> Message:
    """The answer to a question of which some words were not understood, which it names."""
    if not unread:
        return answer
    said = layout.escaped(not_read(unread))
    shown: Message = {**answer, "text": f"{said}\n{answer['text']}"}
    if "blocks" in answer:
        shown["blocks"] = [layout.section(said), *answer["blocks"]]
    return shown


def own_between(own: OwnLeave, when: str) -> Message:
    """The user's leave in a period, which is ``period``."""
    if not own.page.items:
        return {"text": layout.escaped(gettext("You have no leave booked {when}.", when=when))}
    lines = [f"• {_own_line(request, own)}" for request in own.page.items]
    heading = gettext("Your leave {when}:", when=when)
    return _message([[heading, *lines, *_more(own.page.next_cursor)]])


def own_leave_to_change(own: OwnLeave, heading: str) -> Message:
    """As ``own_leave``, with a button each that opens its form; ``heading`` is plain text."""
    if not own.page.items:
        return {"text": f"{layout.escaped(heading)} {gettext(_NOTHING)}".strip()}
    lines = [_own_line(request, own) for request in own.page.items]
    blocks = [layout.paragraph(heading)]
    for request, line in zip(own.page.items, lines, strict=True):
        block: Block = {"type": "section", "text": layout.verbatim(line)}
        if request.closure_id is None:
            block["accessory"] = layout.button(gettext("Change"), ids.EDIT, request.id)
        blocks.append(block)
    return {"text": _fallback([heading, *lines]), "blocks": blocks}


def own_leave_to_cancel(own: OwnLeave, result: str = "") -> Message:
    """As ``own_leave``, with a cancel button each; ``result`` is that of the last click."""
    if not own.page.items:
        return {"text": f"{result} {gettext(_NOTHING)}".strip(), "blocks": []}
    shown = [request for request in own.page.items if request.id in own.cancel_effects]
    heading = gettext("Leave you can cancel:") if shown else gettext("There's nothing to cancel.")
    heading = f"{result} {heading}".strip()
    lines = [_what(request, own) for request in shown]
    blocks = [layout.paragraph(heading)]
    blocks += [_with_button(request, own) for request in shown]
    if len(shown) < len(own.page.items):
        running = gettext(
            "Leave that has begun isn't listed. To end it today, choose Change on my Home tab."
        )
        blocks.append(layout.quiet(running))
        lines.append(running)
    if own.page.next_cursor is not None:
        blocks.append(layout.quiet(gettext(_MORE)))
    return {"text": _fallback([heading, *lines]), "blocks": blocks}


_NOTHING: Final = gettext_noop("You have no upcoming leave or pending requests.")
_MORE: Final = gettext_noop("… and more")
_STATE: Final = {"pending": gettext_noop("awaiting approval"), "approved": gettext_noop("approved")}


def _state(request: LeaveRequest) -> str:
    if request.amendment_id is not None:
        return gettext("approved, a change is awaiting approval")
    if request.status == "pending" and request.first_approver_id is not None:
        return gettext("approved once, awaiting a second approval")
    return gettext(_STATE[request.status])


def _own_line(request: LeaveRequest, own: OwnLeave) -> str:
    return words.labelled(_what(request, own), _state(request))


def _what(request: LeaveRequest, own: OwnLeave) -> str:
    name = layout.cut(words.leave_type(own.leave_types[request.leave_type_id]), _MAX_NAME)
    when = words.dates(request)
    return f"{when}, {words.amount(request.total_half_days)}, {name}"


def _with_button(request: LeaveRequest, own: OwnLeave) -> Block:
    what = _what(request, own)
    return {
        "type": "section",
        "text": layout.verbatim(_own_line(request, own)),
        "accessory": cards.cancel_button(
            ids.CANCEL_LISTED,
            request,
            what,
            needs_approval=own.cancel_effects[request.id] == "amendment",
        ),
    }


def _group(heading: str, absences: Sequence[Absence], next_cursor: str | None) -> list[str]:
    return [heading, *map(_line, absences), *(_more(next_cursor) if absences else [])]


def _more(next_cursor: str | None) -> list[str]:
    return [] if next_cursor is None else [gettext(_MORE)]


def _line(absence: Absence) -> str:
    name = gettext("You") if absence.is_own else layout.cut(absence.person_name, _MAX_NAME)
    what = (
        gettext("Away")
        if absence.summary_type is None
        else layout.cut(words.type_name(absence.summary_type), _MAX_NAME)
    )
    when = words.dates(absence)
    cover_name = absence.cover_name and layout.cut(absence.cover_name, _MAX_NAME)
    return words.with_cover(words.labelled(f"• {name}", f"{when} ({what})"), cover_name)


def _message(groups: Sequence[Sequence[str]]) -> Message:
    """A section for each group, and a fallback text as long as Slack allows."""
    blocks = [layout.paragraph("\n".join(group)) for group in groups if group]
    return {"text": _fallback([line for group in groups for line in group]), "blocks": blocks}


def _fallback(lines: Sequence[str]) -> str:
    fallback = ""
    for line in lines:
        longer = f"{fallback}\n{layout.escaped(line)}".strip()
        if len(longer) > layout.MAX_MESSAGE:
            break
        fallback = longer
    return fallback


def _days(half_days: Amount) -> str:
    return words.amount(half_days) if half_days else gettext("no days")


# Of other days' balances; the parser must understand their translations, too.
BALANCE_EXAMPLES: Final = (gettext_noop("balance 2027"), gettext_noop("balance on 1 may"))
# Examples for the command; the parser must understand their translations, too.
EXAMPLES: Final = (
    gettext_noop("3-7 aug"),
    gettext_noop("next fri pm sick"),
    gettext_noop("24 dec - 2 jan unpaid"),
)
WORKED_EXAMPLE: Final = gettext_noop("worked sat 1 day release")

_MAX_COMMAND = 40


def help_text(command: str, *, contact: str = "") -> str:
    """The command's help in mrkdwn."""
    examples = [f"{command} {gettext(typed)}" for typed in EXAMPLES]
    lines = (
        gettext("`{command}` opens the request form.", command=command),
        gettext(
            "`{one}`, `{other}` or `{third}` fills it in for you.",
            one=examples[0],
            other=examples[1],
            third=examples[2],
        ),
        gettext(
            "`{command} balance` shows how many days you have left; `{command} {example}` on "
            "another day.",
            command=command,
            example=gettext(BALANCE_EXAMPLES[1]),
        ),
        gettext(
            "`{command} out` shows who's off today; `{command} out week` shows the rest of "
            "the week (at weekends, next week too).",
            command=command,
        ),
        gettext("`{command} calendar` shows your team's next two weeks.", command=command),
        gettext(
            "`{command} mine` lists your leave; `{command} cancel` lets you cancel it.",
            command=command,
        ),
        gettext(
            "`{command} @name sick today` records leave for a person whose leave you decide.",
            command=command,
        ),
        gettext(
            "`{command} {example}` claims time in lieu, where your organisation has it.",
            command=command,
            example=gettext(WORKED_EXAMPLE),
        ),
        gettext("`{command} help` shows this help.", command=command),
        gettext(
            "Your approver gets a message to approve or decline, and I'll tell you what they "
            "decide."
        ),
        contact_line(contact),
    )
    return "\n".join(lines)


def contact_line(contact: str) -> str:
    """Whom to ask, and where to send feedback, in mrkdwn; ``contact`` may be ""."""
    if not contact:
        return gettext("Questions or feedback? Ask an admin of your organisation.")
    address = layout.escaped(contact)
    link = f"<mailto:{address}|{address}>" if is_email_contact(contact) else f"<{address}>"
    return gettext("Questions or feedback? Write to {contact}.", contact=link)


def unknown_command(command: str) -> str:
    """The response to a command that is in the manifest but not in the settings, in mrkdwn."""
    shown = layout.escaped(layout.cut(command, _MAX_COMMAND))
    return gettext(
        "Hiatus isn't set up for `{command}`. The people who run Hiatus can set the command "
        "in `HIATUS_SLACK_COMMAND`.",
        command=shown,
    )
