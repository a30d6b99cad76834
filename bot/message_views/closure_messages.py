"""The message to a person about the leave that a closure books, changes or takes back."""

from __future__ import annotations

from bot.base.block_kit import Message
from bot.base.language import gettext
from bot.blocks import layout, words
from bot.message_views import cards
from storage.notifications.notification_data import ClosureNotificationData


def told(data: ClosureNotificationData) -> Message:
    """What the closure books for the person now; the text has all of it."""
    sentence = _sentence(data)
    lines = [words.dates(request) for request in data.leave]
    if data.leave:
        types = words.names([layout.name(words.type_name(name)) for name in data.leave_types])
        lines.append(words.labelled(types, words.amount(data.half_days)))
    if data.leave and data.half_days_before not in (0, data.half_days):
        lines.append(gettext("Before: {amount}", amount=words.amount(data.half_days_before)))
    lines += [cards.balance_after(balance) for balance in data.balances]
    return {
        "text": " ".join((sentence, *(f"{line}." for line in lines))),
        "blocks": [layout.section("\n".join((f"*{sentence}*", *lines)))],
    }


def _sentence(data: ClosureNotificationData) -> str:
    name = layout.name(data.name or gettext("Closure"))
    if not data.leave:
        return gettext(
            "{name}: your leave is cancelled. You get {amount} back.",
            name=name,
            amount=words.amount(data.half_days_before),
        )
    if not data.half_days_before:
        return gettext("{name}: the company is closed, so leave is booked for you.", name=name)
    return gettext("{name} has changed. This is your leave now.", name=name)
