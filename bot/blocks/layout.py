"""Headers, buttons, confirmation dialogues, modals and the card of a leave request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal

from slack_sdk.models.blocks import AlertBlock, PlainTextObject

from bot.base.block_kit import Block, View
from bot.base.language import gettext
from bot.blocks import text, words

_MAX_SPOKEN: Final = 75
_MAX_ALERT: Final = 200
_NO_URLS: Final[Mapping[str, str]] = {}

AlertLevel = Literal["info", "warning", "error"]


def header(title: str) -> Block:
    return {"type": "header", "text": text.plain(title, 150)}


def actions(*elements: Block) -> Block:
    return {"type": "actions", "elements": list(elements)}


def card(title: str, subtitle: str, body: str, buttons: Sequence[Block]) -> Block:
    """A card; its texts are plain, and cut to Slack's limits. ``body`` may be empty."""
    shown: Block = {
        "type": "card",
        "title": text.mrkdwn(text.escaped_within(title, 150)),
        "subtitle": text.mrkdwn(text.escaped_within(subtitle, 150)),
    }
    if body:
        shown["body"] = text.mrkdwn(text.escaped_within(body, 200))
    if buttons:
        shown["actions"] = list(buttons)
    return shown


def button(label: str, action_id: str, value: str = "", style: str = "", spoken: str = "") -> Block:
    """A button. ``spoken`` is the accessibility label, if the label alone is ambiguous."""
    element: Block = {"type": "button", "action_id": action_id, "text": text.plain(label)}
    if value:
        element["value"] = value
    if style:
        element["style"] = style
    if spoken:
        element["accessibility_label"] = text.cut(spoken, _MAX_SPOKEN)
    return element


def alert(sentence: str, block_id: str, level: AlertLevel) -> Block:
    """A coloured notice in plain text. Slack allows it in modals only.

    Source: docs.slack.dev/reference/block-kit/blocks/alert-block.
    """
    shown = PlainTextObject(text=text.cut(sentence, _MAX_ALERT), emoji=False)
    block: Block = AlertBlock(text=shown, level=level, block_id=block_id).to_dict()
    return block


def row(name: str, facts: Sequence[str]) -> Block:
    """An entry of a list: a name, and facts about it in mrkdwn on a line of their own."""
    title = f"*{text.name(text.one_line(name))}*"
    return text.section(f"{title}\n{' · '.join(facts)}" if facts else title)


def menu(
    action_id: str,
    options: Sequence[tuple[str, str]],
    about: str,
    urls: Mapping[str, str] = _NO_URLS,
) -> Block:
    """An overflow menu. The options are labels with what to do with ``about``, the id of a row.

    ``Interaction.choice`` has what to do, ``Interaction.value`` the id. ``urls`` are the addresses
    that Slack opens for some of the choices; it reports those choices as well.
    """
    shown: list[Block] = []
    for label, choice in options:
        option: Block = {"text": text.plain(label, text.MAX_OPTION), "value": f"{choice} {about}"}
        if choice in urls:
            option["url"] = urls[choice]
        shown.append(option)
    return {"type": "overflow", "action_id": action_id, "options": shown}


def confirm(title: str, sentence: str, yes: str, no: str) -> Block:
    """A confirmation dialogue in plain text, for actions that cannot be undone."""
    return {
        "title": text.plain(title, 100),
        "text": text.verbatim(sentence, 300),
        "confirm": text.plain(yes, 30),
        "deny": text.plain(no, 30),
    }


def modal(
    title: str,
    blocks: Sequence[Block],
    callback_id: str = "",
    submit: str = "",
    close: str = "",
    private_metadata: str = "",
) -> View:
    """A modal; ``submit`` makes it a form."""
    view: View = {
        "type": "modal",
        "title": text.plain(title, text.MAX_TITLE),
        "close": text.plain(close or gettext("Close"), text.MAX_TITLE),
        "blocks": list(blocks),
        "private_metadata": private_metadata,
    }
    if callback_id:
        view["callback_id"] = callback_id
    if submit:
        view["submit"] = text.plain(submit, text.MAX_TITLE)
    return view


def notice(title: str, sentence: str) -> View:
    """A modal with one sentence in plain text."""
    return {
        "type": "modal",
        "title": text.plain(title, text.MAX_TITLE),
        "close": text.plain(gettext("Close")),
        "blocks": [text.paragraph(sentence)],
    }


def show_more(action_id: str, cursor: str | None) -> list[Block]:
    """The button for the next page, if there is one."""
    return [actions(button(gettext("Show more"), action_id, cursor))] if cursor else []


# Two names fit in a title.
_MAX_NAME = 60


def request_card(
    *,
    requester_name: str,
    leave_type_name: str,
    dates: str,
    half_days: int,
    facts: Sequence[str] = (),
    buttons: Sequence[Block] = (),
    kind: Literal["request", "change", "cancellation"] = "request",
) -> Block:
    """The card; all texts are plain. ``facts`` are lines of its body: 200 characters in all.

    ``kind``: a request, or what is asked about approved leave.
    """
    requester = text.cut(requester_name, _MAX_NAME)
    leave_type = text.cut(leave_type_name, _MAX_NAME)
    what = leave_type
    if kind == "change":
        what = gettext("change of {leave_type}", leave_type=leave_type)
    elif kind == "cancellation":
        what = gettext("cancellation of {leave_type}", leave_type=leave_type)
    return card(
        f"{requester} · {what}",
        f"{dates} · {words.amount(half_days)}",
        "\n".join(facts),
        buttons,
    )


def decision_buttons(approve: str, decline: str, value: str, requester_name: str) -> list[Block]:
    """Approve and Decline, with these action ids; screen readers also say whose request it is."""
    return [
        button(
            gettext("Approve"),
            approve,
            value,
            "primary",
            gettext("Approve: {who}", who=requester_name),
        ),
        button(
            gettext("Decline"),
            decline,
            value,
            "danger",
            gettext("Decline: {who}", who=requester_name),
        ),
    ]
