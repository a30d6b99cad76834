"""The Home tab: balance, pending approvals, own leave, absences and settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext
from bot.blocks import layout, text, words
from bot.message_views import card as cards
from bot.views import home_absences, home_balance
from bot.views.home_pages import page_buttons
from storage.base.values import User
from storage.slack.home import Home, Item

# After escaping, the longest note and two names still fit in a section.
_MAX_NOTE: Final = 200


def view(home: Home) -> View:
    return {
        "type": "home",
        "callback_id": ids.HOME,
        "blocks": [
            *_head(home),
            *home_balance.blocks(home.balance),
            *_pending_approvals(home),
            *_own_leave(home),
            *home_absences.blocks(home),
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


def _head(home: Home) -> list[Block]:
    request = layout.button(gettext("Request leave"), ids.HOME_REQUEST, style="primary")
    title = f"*{text.name(home.organisation.name)}*\n{words.day(home.today)}"
    return [{**text.section(title), "accessory": request}]


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
    return blocks + page_buttons(
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
        note = gettext("Note: {note}", note=text.cut(text.one_line(request.note), _MAX_NOTE))
        shown.append(text.paragraph(note))
    return shown


def _own_leave(home: Home) -> list[Block]:
    blocks = [layout.header(gettext("Your leave"))]
    if not home.own.items:
        return [*blocks, text.section(gettext("You have no upcoming leave."))]
    for item in home.own.items:
        blocks += [text.section(_own_line(item)), layout.actions(*_own_buttons(item))]
    cursors, cursor = home.cursors, home.own.next_cursor
    return blocks + page_buttons(
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
