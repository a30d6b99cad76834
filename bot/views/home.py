"""The Home tab: balance, pending approvals, own leave, absences and settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext
from bot.blocks import layout, text, words
from bot.views import card as cards
from storage.base.calendar_values import Absence
from storage.base.values import User
from storage.leave.ledgers import Balance
from storage.slack.home import Home, Item
from storage.slack.home_pages import PageCursors

_BAR_LENGTH: Final = 20
_TAKEN, _PENDING, _LEFT = "█", "▒", "░"
# After escaping, the longest note and two names still fit in a section.
_MAX_NOTE: Final = 200


def view(home: Home) -> View:
    return {
        "type": "home",
        "callback_id": ids.HOME,
        "blocks": [
            *_head(home),
            *_balance(home.balance),
            *_pending_approvals(home),
            *_own_leave(home),
            *_away(home),
            *_settings(home.user),
        ],
    }


def closed(sentence: str) -> View:
    """The Home tab of a person who cannot use Hiatus, with the reason in plain text."""
    return {
        "type": "home",
        "callback_id": ids.HOME,
        "blocks": [text.paragraph(sentence)],
    }


def bar(balance: Balance) -> str:
    """A bar of 20 characters for taken, pending and remaining days; "" without an allowance."""
    whole = max(balance.entitled_half_days, balance.taken_half_days + balance.pending_half_days)
    if whole <= 0:
        return ""
    taken = round(_BAR_LENGTH * balance.taken_half_days / whole)
    used = round(_BAR_LENGTH * (balance.taken_half_days + balance.pending_half_days) / whole)
    return _TAKEN * taken + _PENDING * (used - taken) + _LEFT * (_BAR_LENGTH - used)


def _head(home: Home) -> list[Block]:
    request = layout.button(gettext("Request leave"), ids.HOME_REQUEST, style="primary")
    title = f"*{text.name(home.organisation.name)}*\n{words.day(home.today)}"
    return [{**text.section(title), "accessory": request}]


def _balance(balance: Balance) -> list[Block]:
    year = words.span(balance.year.first_day, balance.year.last_day)
    left = _days(balance.remaining_half_days)
    entitled = _days(balance.entitled_half_days)
    summary = gettext("{left} of {entitled} days left", left=left, entitled=entitled)
    lines = [f"*{summary}*"]
    if progress := bar(balance):
        lines.append(f"`{progress}`")
    figures = (
        (gettext("Allowance"), entitled),
        (gettext("Approved"), _days(balance.taken_half_days)),
        (gettext("Pending"), _days(balance.pending_half_days)),
        (gettext("Left"), left),
    )
    blocks = [
        layout.header(gettext("Your balance")),
        {
            **text.section("\n".join(lines)),
            "fields": [text.mrkdwn(f"*{title}*\n{figure}") for title, figure in figures],
        },
        text.quiet(gettext("Leave year: {year}", year=year)),
    ]
    if balance.lapsing_half_days > 0 and balance.lapsing_after is not None:
        lapsing = words.amount(balance.lapsing_half_days)
        last = words.day(balance.lapsing_after)
        blocks.append(
            text.quiet(
                gettext(
                    "Includes {amount} carried over, to use by {day}.", amount=lapsing, day=last
                )
            )
        )
    return blocks


def _pending_approvals(home: Home) -> list[Block]:
    if not home.waiting.items:
        return []
    blocks = [layout.header(gettext("Waiting for your decision"))]
    for item in home.waiting.items:
        request_id, who = item.request.id, item.person_name
        blocks += [
            *_pending_request(item),
            layout.actions(
                layout.button(
                    gettext("Approve"),
                    ids.HOME_APPROVE,
                    request_id,
                    "primary",
                    gettext("Approve: {who}", who=who),
                ),
                layout.button(
                    gettext("Decline"),
                    ids.HOME_DECLINE,
                    request_id,
                    "danger",
                    gettext("Decline: {who}", who=who),
                ),
            ),
        ]
    cursors, cursor = home.cursors, home.waiting.next_cursor
    return blocks + _page_buttons(
        cursors.waiting,
        cursor,
        replace(cursors, waiting=None),
        replace(cursors, waiting=cursor),
    )


def _pending_request(item: Item) -> list[Block]:
    request = item.request
    shown = [
        text.section(
            f"*{text.name(item.person_name)}*: {text.name(item.leave_type.name)}\n"
            f"{cards.dates(request)}, {words.amount(request.total_half_days)}"
        )
    ]
    if request.note:
        # In plain text as on the card, so that Slack does not format user input.
        note = gettext("Note: {note}", note=text.cut(_one_line(request.note), _MAX_NOTE))
        shown.append(text.paragraph(note))
    return shown


def _own_leave(home: Home) -> list[Block]:
    blocks = [layout.header(gettext("Your leave"))]
    if not home.own.items:
        return [*blocks, text.section(gettext("You have no upcoming leave."))]
    for item in home.own.items:
        blocks += [text.section(_own_line(item)), layout.actions(*_own_buttons(item))]
    cursors, cursor = home.cursors, home.own.next_cursor
    return blocks + _page_buttons(
        cursors.own, cursor, replace(cursors, own=None), replace(cursors, own=cursor)
    )


def _own_line(item: Item) -> str:
    request = item.request
    status = gettext("Awaiting a decision") if request.status == "pending" else gettext("Approved")
    return (
        f"*{text.name(item.leave_type.name)}*: {cards.dates(request)}, "
        f"{words.amount(request.total_half_days)}\n{status}"
    )


def _own_buttons(item: Item) -> list[Block]:
    request, when = item.request, cards.dates(item.request)
    spoken = gettext("Cancel: {dates}", dates=when)
    cancel = layout.button(gettext("Cancel leave"), ids.HOME_CANCEL, request.id, spoken=spoken)
    cancel["confirm"] = layout.confirm(
        gettext("Cancel this leave?"), f"{when}.", gettext("Cancel leave"), gettext("Keep it")
    )
    if request.status != "pending":
        return [cancel]
    return [
        layout.button(
            gettext("Edit"), ids.EDIT, request.id, spoken=gettext("Edit {name}", name=when)
        ),
        cancel,
    ]


def _away(home: Home) -> list[Block]:
    is_team = home.cursors.scope == "team"
    other = replace(home.cursors, scope="org" if is_team else "team", away=None)
    switch = layout.button(
        gettext("Show everyone") if is_team else gettext("Show my team"),
        ids.HOME_SCOPE,
        other.packed(),
    )
    last_day = words.day(home.last_day)
    if is_team:
        who = gettext("Your team, today to {day}", day=last_day)
    else:
        who = gettext("Everyone, today to {day}", day=last_day)
    # The list is sorted by first day, so today's absences come first.
    today = [absence for absence in home.away.items if absence.start_date <= home.today]
    later = [absence for absence in home.away.items if absence.start_date > home.today]
    blocks: list[Block] = [
        layout.header(gettext("Who's out")),
        {**text.section(who), "accessory": switch},
    ]
    if not home.away.items:
        return [*blocks, text.section(gettext("No one is out."))]
    blocks += _absences(gettext("Today"), today) + _absences(gettext("Later"), later)
    cursors, cursor = home.cursors, home.away.next_cursor
    return blocks + _page_buttons(
        cursors.away, cursor, replace(cursors, away=None), replace(cursors, away=cursor)
    )


def _settings(user: User) -> list[Block]:
    own = [
        layout.button(gettext("API keys"), ids.KEYS),
        layout.button(gettext("Calendar feeds"), ids.FEEDS),
    ]
    blocks = [layout.header(gettext("Settings")), layout.actions(*own)]
    if user.role not in ("admin", "owner"):
        return blocks
    administered = [
        layout.button(gettext("People"), ids.PEOPLE),
        layout.button(gettext("Departments"), ids.DEPARTMENTS),
        layout.button(gettext("Leave types"), ids.LEAVE_TYPES),
        layout.button(gettext("Organisation"), ids.ORGANISATION),
        layout.button(gettext("Public holidays"), ids.HOLIDAYS),
        layout.button(gettext("Webhooks"), ids.WEBHOOKS),
    ]
    return [*blocks, layout.actions(*administered)]


def _absences(title: str, absences: Sequence[Absence]) -> list[Block]:
    if not absences:
        return []
    lines = "\n".join(f"• {_absence_line(absence)}" for absence in absences)
    return [
        text.section(f"*{title}*"),
        text.paragraph(lines),
    ]


def _absence_line(absence: Absence) -> str:
    when = words.span(
        absence.start_date, absence.end_date, absence.start_half_day, absence.end_half_day
    )
    what = text.cut(absence.summary_type or gettext("Away"), text.MAX_NAME)
    if absence.status == "pending":
        what = gettext("{leave_type}, pending", leave_type=what)
    who = (
        gettext("You")
        if absence.is_own
        else _one_line(text.cut(absence.person_name, text.MAX_NAME))
    )
    return f"{who}: {when} ({what})"


def _page_buttons(
    at: str | None, cursor: str | None, first: PageCursors, following: PageCursors
) -> list[Block]:
    buttons = []
    if at is not None:
        buttons.append(layout.button(gettext("Back to start"), ids.HOME_FIRST, first.packed()))
    if cursor is not None:
        buttons.append(layout.button(gettext("Show more"), ids.HOME_NEXT, following.packed()))
    return [layout.actions(*buttons)] if buttons else []


def _days(half_days: int) -> str:
    return words.number(half_days / 2)


def _one_line(typed: str) -> str:
    return " ".join(typed.split())
