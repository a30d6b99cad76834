"""The welcome to people who join, with their figures, and to admins, with the first steps."""

from __future__ import annotations

from bot.base import ids
from bot.base.block_kit import Block, Message
from bot.base.language import gettext
from bot.blocks import layout, words
from bot.message_views import answers
from storage.notifications.notification_data import Welcome


def message(welcome: Welcome, command: str, contact: str) -> Message:
    if welcome.recipient.role in ("admin", "owner"):
        return _for_admins(welcome, command, contact)
    heading = gettext("Welcome to Hiatus!")
    figures = _figures(welcome)
    advice = gettext(
        "Type `{command}` to request leave, or write to me here. My Home tab has the rest.",
        command=command,
    )
    buttons = [layout.button(gettext("Request leave"), ids.HOME_REQUEST, style="primary")]
    if welcome.may_report_sick:
        buttons.append(layout.button(gettext("I'm sick"), ids.SICK))
    buttons += [
        layout.button(gettext("Add my calendar"), ids.FEEDS),
        layout.button(
            gettext("Not right?"),
            ids.BALANCE_NOT_RIGHT,
            spoken=gettext("Not right? Tell the admins"),
        ),
    ]
    return {
        "text": f"{heading} {figures} {advice}",
        "blocks": [
            layout.section(f"*{heading}*\n{figures}"),
            layout.section(advice),
            layout.actions(*buttons),
        ],
    }


def _figures(welcome: Welcome) -> str:
    """``You have 12.5 days until Thu 31 Dec 2026; Olivia Bennett approves.``"""
    balance = welcome.balance
    amount = words.amount(max(balance.remaining_half_days, 0))
    day = words.day(balance.year.last_day)
    names = [layout.name(layout.one_line(name)) for name in welcome.approver_names]
    if not names:
        return gettext("You have {amount} until {day}.", amount=amount, day=day)
    if len(names) == 1:
        return gettext(
            "You have {amount} until {day}; {name} approves.",
            amount=amount,
            day=day,
            name=names[0],
        )
    return gettext(
        "You have {amount} until {day}; {names} can approve.",
        amount=amount,
        day=day,
        names=words.names(names),
    )


def _for_admins(welcome: Welcome, command: str, contact: str) -> Message:
    heading = gettext(
        "Welcome to Hiatus! {organisation} is ready in three steps:",
        organisation=layout.name(welcome.organisation.name),
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
        layout.section(f"*{heading}*"),
        layout.section(numbered),
        layout.actions(layout.button(gettext("Request leave"), ids.HOME_REQUEST)),
    ]
    # Without a contact, the line says to ask an admin, and the reader is the only one.
    if contact:
        question = answers.contact_line(contact)
        lines.append(question)
        blocks.append(layout.quiet(question))
    return {"text": "\n".join(lines), "blocks": blocks}
