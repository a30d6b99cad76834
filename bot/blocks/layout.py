"""Block Kit: text objects cut to Slack's limits, headers, buttons, dialogues, modals and cards."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from slack_sdk.models.blocks import AlertBlock, PlainTextObject

from bot.base.block_kit import Block, View
from bot.base.language import gettext
from storage.admin.personal_data import ERASED_NAME

MAX_SECTION: Final = 3_000
MAX_OPTION: Final = 75
MAX_TITLE: Final = 24
# Long enough to identify a person; ten names with dates still fit in a section.
MAX_NAME: Final = 80
# The limit of chat.update (docs.slack.dev, chat.update: msg_too_long).
MAX_MESSAGE: Final = 4_000


def escaped(text: str) -> str:
    """User input escaped for mrkdwn: it cannot mention, link or call a channel.

    Source: docs.slack.dev, "Formatting message text", "Escaping text".
    """
    return (
        _in_readers_language(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    )


def _in_readers_language(text: str) -> str:
    """The text with the name of erased people translated."""
    if ERASED_NAME not in text:
        return text
    return text.replace(ERASED_NAME, gettext("Erased person"))


def cut(text: str, longest: int) -> str:
    """The text cut to that length, with an ellipsis if it was cut."""
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def escaped_within(typed: str, longest: int) -> str:
    """User input escaped, and cut to that length as escaped text, with its entities whole."""
    shown = escaped(typed)
    if len(shown) <= longest:
        return shown
    return re.sub(r"&[a-z]*$", "", shown[: longest - 1]).rstrip() + "…"


def plain(text: str, longest: int = MAX_SECTION) -> Block:
    """A plain_text object; a space replaces empty text, which Slack rejects."""
    shown = cut(_in_readers_language(text), longest)
    return {"type": "plain_text", "text": shown or " ", "emoji": True}


def verbatim(text: str, longest: int = MAX_SECTION) -> Block:
    """As ``plain`` without emoji conversion, for user input."""
    shown = cut(_in_readers_language(text), longest)
    return {"type": "plain_text", "text": shown or " ", "emoji": False}


def mrkdwn(text: str) -> Block:
    """A mrkdwn text object; the caller escapes user input."""
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def section(text: str) -> Block:
    """A section in mrkdwn."""
    return {"type": "section", "text": mrkdwn(text)}


def paragraph(typed: str) -> Block:
    """A section in plain text, for user input."""
    return {"type": "section", "text": verbatim(typed)}


def quiet(text: str) -> Block:
    """A context block in mrkdwn."""
    return {"type": "context", "elements": [mrkdwn(text)]}


def name(text: str) -> str:
    """A name inside mrkdwn: escaped and cut to ``MAX_NAME``."""
    return escaped(cut(text, MAX_NAME))


def excerpt(typed: str, longest: int) -> str:
    """The start of user input, escaped, at most that long."""
    # Cut before escaping, to keep entities whole; the longest has five characters.
    return escaped(cut(typed, max(1, longest // 5)))


def that_fit(lines: Iterable[str], longest: int) -> list[str]:
    """The first lines that fit, escaped and each with a line break, in that many characters."""
    length, shown = 0, []
    for line in lines:
        length += len(escaped(line)) + 1
        if length > longest:
            break
        shown.append(line)
    return shown


def room_after(parts: Iterable[str]) -> int:
    """The number of characters left for an excerpt in a message's text."""
    return min(2_000, MAX_MESSAGE - 20 - sum(len(part) + 1 for part in parts))


def one_line(typed: str) -> str:
    """The text with single spaces and no line breaks."""
    return " ".join(typed.split())


_MAX_SPOKEN: Final = 75
_MAX_ALERT: Final = 200
_NO_URLS: Final[Mapping[str, str]] = {}

AlertLevel = Literal["info", "warning", "error"]


def header(title: str) -> Block:
    return {"type": "header", "text": plain(title, 150)}


def actions(*elements: Block) -> Block:
    return {"type": "actions", "elements": list(elements)}


def card(title: str, subtitle: str, body: str, buttons: Sequence[Block]) -> Block:
    """A card; its texts are plain, and cut to Slack's limits. ``body`` may be empty."""
    shown: Block = {
        "type": "card",
        "title": mrkdwn(escaped_within(title, 150)),
        "subtitle": mrkdwn(escaped_within(subtitle, 150)),
    }
    if body:
        shown["body"] = mrkdwn(escaped_within(body, 200))
    if buttons:
        shown["actions"] = list(buttons)
    return shown


def button(label: str, action_id: str, value: str = "", style: str = "", spoken: str = "") -> Block:
    """A button. ``spoken`` is the accessibility label, if the label alone is ambiguous."""
    element: Block = {"type": "button", "action_id": action_id, "text": plain(label)}
    if value:
        element["value"] = value
    if style:
        element["style"] = style
    if spoken:
        element["accessibility_label"] = cut(spoken, _MAX_SPOKEN)
    return element


def alert(sentence: str, block_id: str, level: AlertLevel) -> Block:
    """A coloured notice in plain text. Slack allows it in modals only.

    Source: docs.slack.dev/reference/block-kit/blocks/alert-block.
    """
    shown = PlainTextObject(text=cut(sentence, _MAX_ALERT), emoji=False)
    block: Block = AlertBlock(text=shown, level=level, block_id=block_id).to_dict()
    return block


def row(entry: str, facts: Sequence[str]) -> Block:
    """An entry of a list: a name, and facts about it in mrkdwn on a line of their own."""
    title = f"*{name(one_line(entry))}*"
    return section(f"{title}\n{' · '.join(facts)}" if facts else title)


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
    return overflow(
        action_id,
        [(label, f"{choice} {about}") for label, choice in options],
        {f"{choice} {about}": url for choice, url in urls.items()},
    )


def overflow(
    action_id: str, options: Sequence[tuple[str, str]], urls: Mapping[str, str] = _NO_URLS
) -> Block:
    """A menu of at most five labels with their values: what to do, and after a space an id."""
    shown: list[Block] = []
    for label, value in options:
        option: Block = {"text": plain(label, MAX_OPTION), "value": value}
        if value in urls:
            option["url"] = urls[value]
        shown.append(option)
    return {"type": "overflow", "action_id": action_id, "options": shown}


def confirm(
    title: str, sentence: str, yes: str, no: str, style: Literal["primary", "danger"] = "danger"
) -> Block:
    """A confirmation dialogue in plain text; ``yes`` is red for actions that cannot be undone."""
    return {
        "title": plain(title, 100),
        "text": verbatim(sentence, 300),
        "confirm": plain(yes, 30),
        "deny": plain(no, 30),
        "style": style,
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
        "title": plain(title, MAX_TITLE),
        "close": plain(close or gettext("Close"), MAX_TITLE),
        "blocks": list(blocks),
        "private_metadata": private_metadata,
    }
    if callback_id:
        view["callback_id"] = callback_id
    if submit:
        view["submit"] = plain(submit, MAX_TITLE)
    return view


def notice(title: str, sentence: str) -> View:
    """A modal with one sentence in plain text."""
    return {
        "type": "modal",
        "title": plain(title, MAX_TITLE),
        "close": plain(gettext("Close")),
        "blocks": [paragraph(sentence)],
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
    amount: str,
    facts: Sequence[str] = (),
    buttons: Sequence[Block] = (),
    kind: Literal["request", "change", "cancellation"] = "request",
) -> Block:
    """The card; all texts are plain. ``facts`` are lines of its body: 200 characters in all.

    ``kind``: a request, or what is asked about approved leave.
    """
    requester = cut(requester_name, _MAX_NAME)
    leave_type = cut(leave_type_name, _MAX_NAME)
    what = leave_type
    if kind == "change":
        what = gettext("change of {leave_type}", leave_type=leave_type)
    elif kind == "cancellation":
        what = gettext("cancellation of {leave_type}", leave_type=leave_type)
    return card(
        f"{requester} · {what}",
        f"{dates} · {amount}",
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


def suggest_button(action_id: str, value: str, requester_name: str) -> Block:
    """The third button of a pending request's card."""
    spoken = gettext("Suggest other dates: {who}", who=requester_name)
    return button(gettext("Suggest other dates"), action_id, value, spoken=spoken)
