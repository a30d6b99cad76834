"""The form in which people claim time in lieu, and the one that declines it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext
from bot.base.payloads import Values
from bot.blocks import fields, layout, words
from bot.blocks.fields import Option
from bot.message_views import time_credit_messages
from storage.base.allowance_values import Allowance
from storage.leave.decisions import MAX_REASON_LENGTH
from storage.leave.time_credits import MAX_HALF_DAYS
from storage.notifications.time_credit_cards import TimeCreditCard

# The names of the fields in InvalidInput, besides the reason's.
ALLOWANCE = "allowance_id"
WORKED_ON = "worked_on"
DAYS = "days"


@dataclass(frozen=True, kw_only=True, slots=True)
class FilledClaim:
    """The values of the form; None where it is empty. ``half_days`` may be impossible ones."""

    allowance_id: str | None = None
    worked_on: date | None = None
    half_days: float | None = None
    reason: str | None = None


def view(allowances: Sequence[Allowance], filled: FilledClaim, asides: Sequence[Block]) -> View:
    """The modal; ``allowances`` are those for which days can be earned, at least one."""
    if len(allowances) == 1:
        name = layout.name(allowances[0].name)
        first = layout.section(gettext("The days are added to *{allowance}*.", allowance=name))
    else:
        options = [
            Option(
                label=layout.cut(words.allowance(allowance), layout.MAX_OPTION), value=allowance.id
            )
            for allowance in allowances
        ]
        menu = fields.select(options, filled.allowance_id, gettext("Choose an allowance"))
        first = fields.field(ALLOWANCE, gettext("Allowance"), menu)
    return layout.modal(
        gettext("Time in lieu"),
        [
            *asides,
            first,
            fields.field(
                WORKED_ON,
                gettext("Worked on"),
                fields.date_picker(filled.worked_on),
                hint=gettext("A day on which you worked outside of your working time."),
            ),
            fields.field(DAYS, gettext("Days to get back"), _days_menu(filled.half_days)),
            fields.field(
                ids.REASON,
                gettext("Reason"),
                _text(filled.reason),
                hint=gettext("What the work was. Your approver will see this."),
            ),
        ],
        ids.TIME_CREDIT_FORM,
        gettext("Send"),
        gettext("Cancel"),
        # The only allowance has no field.
        allowances[0].id if len(allowances) == 1 else "",
    )


def _days_menu(half_days: float | None) -> Block:
    options = [
        Option(label=words.amount(number), value=str(number))
        for number in range(1, MAX_HALF_DAYS + 1)
    ]
    chosen = None if half_days is None else f"{half_days:g}"
    offered = {option.value for option in options}
    return fields.select(options, chosen if chosen in offered else None, gettext("Choose the days"))


def _text(value: str | None) -> Block:
    text = fields.text_input(value, MAX_REASON_LENGTH)
    return text | {"multiline": True}


def filled_of(values: Values, only_allowance_id: str) -> FilledClaim:
    """The values in the view's ``state.values``."""
    half_days = fields.value_of(values, DAYS)
    return FilledClaim(
        allowance_id=fields.value_of(values, ALLOWANCE) or only_allowance_id,
        worked_on=fields.date_of(values, WORKED_ON),
        half_days=None if half_days is None else float(half_days),
        reason=fields.value_of(values, ids.REASON),
    )


def too_many_days(days: float) -> str:
    return gettext(
        "{days} days for the work of one day aren't possible. Please choose below.",
        days=words.number(days),
    )


def none_earnable() -> str:
    """Why nothing can be claimed, in plain text."""
    return gettext(
        "Your organisation has no allowance for which days can be earned. An admin can allow it "
        "for one of the allowances, among the settings on Home."
    )


def decline(card: TimeCreditCard, private_metadata: str) -> View:
    """The modal that declines; ``private_metadata`` keeps the clicked message or the id."""
    reason = fields.field(
        ids.REASON,
        gettext("Reason"),
        _text(None),
        hint=gettext("The requester will see this."),
        is_optional=True,
    )
    return layout.modal(
        gettext("Decline time in lieu"),
        [layout.section(time_credit_messages.what(card)), reason],
        ids.TIME_CREDIT_DECLINE_FORM,
        gettext("Decline"),
        gettext("Back"),
        private_metadata,
    )
