"""The first message to a person: one line, or three steps for those who set Hiatus up."""

from __future__ import annotations

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext
from bot.blocks import layout, text
from bot.message_views import replies
from storage.slack.welcomes import Welcome


def message(welcome: Welcome, command: str, contact: str) -> Message:
    if welcome.recipient.role in ("admin", "owner"):
        return _for_admins(welcome, command, contact)
    return {
        "text": gettext(
            "Welcome to Hiatus! Type `{command}` to request leave; your balance is on my Home tab.",
            command=command,
        )
    }


def _for_admins(welcome: Welcome, command: str, contact: str) -> Message:
    heading = gettext(
        "Welcome to Hiatus! {organisation} is ready in three steps:",
        organisation=text.name(welcome.organisation.name),
    )
    if welcome.organisation.slack_members_join:
        third = gettext(
            "Tell your team. They join when they type `{command}` for the first time.",
            command=command,
        )
    else:
        third = gettext("Add your team on my Home tab, under People.")
    steps = [
        gettext("Open my Home tab. The list there shows what's left to set up."),
        gettext("Type `{command}` and look at the form that everyone will use.", command=command),
        third,
    ]
    numbered = "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))
    lines = [heading, numbered]
    blocks: list[Block] = [
        text.section(f"*{heading}*"),
        text.section(numbered),
        layout.actions(layout.button(gettext("Request leave"), ids.HOME_REQUEST)),
    ]
    # Without a contact, the line says to ask an admin, and the reader is the only one.
    if contact:
        question = replies.contact_line(contact)
        lines.append(question)
        blocks.append(text.quiet(question))
    return {"text": "\n".join(lines), "blocks": blocks}
