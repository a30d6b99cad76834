"""Where a balance comes from: the ledger of each allowance in words, as of any day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext
from bot.blocks import balance_lines, fields, layout, words
from storage.leave.ledgers import Balance

# The block of the date picker, and the field in ``out_of_range``.
DAY: Final = "on"
# Lines alike in a row, such as leave, of all allowances: a modal has at most 100 blocks.
_MAX_ALIKE: Final = 60
_LEAST_ALIKE: Final = 4


def view(balances: Sequence[Balance], type_names: Mapping[str, str]) -> View:
    """The caller's ledgers; ``type_names`` are those of leave types by id."""
    return _modal(balances[0].on, ledgers(balances, type_names))


def ledgers(
    balances: Sequence[Balance], type_names: Mapping[str, str], *, is_own: bool = True
) -> list[Block]:
    """The ledger of each allowance; ``is_own``: in words to the person whose they are."""
    is_named = balance_lines.names_of(balances)
    most_alike = max(_LEAST_ALIKE, _MAX_ALIKE // len(balances))
    blocks: list[Block] = []
    for balance in balances:
        name = layout.cut(layout.one_line(words.allowance(balance.allowance)), layout.MAX_NAME)
        title = f"{name}, {balance.year.name}" if is_named else balance.year.name
        left = balance_lines.left(balance.remaining_half_days)
        blocks += [
            layout.header(title),
            layout.section(f"*{left}*"),
            *balance_lines.sections(
                balance_lines.ledger(balance, type_names, most_alike=most_alike, is_own=is_own)
            ),
        ]
        if balance.lapsing_half_days > 0 and balance.lapsing_after is not None:
            blocks.append(
                layout.quiet(
                    gettext(
                        "{amount} to use by {day}",
                        amount=words.amount(balance.lapsing_half_days),
                        day=words.day(balance.lapsing_after),
                    )
                )
            )
    return blocks


def refused(sentence: str, on: date) -> View:
    """Why the balance of that day cannot be shown, in plain text."""
    return _modal(on, [layout.paragraph(sentence)])


def _modal(on: date, blocks: Sequence[Block]) -> View:
    return layout.modal(gettext("Your balance"), [day_picker(on, ids.BALANCE_DAY), *blocks])


def day_picker(on: date, action_id: str) -> Block:
    """The day of the ledgers below. Not an input, which would make the modal a form."""
    label = gettext("Balance on")
    return {
        **layout.section(f"*{label}*"),
        "block_id": DAY,
        "accessory": fields.date_picker(on) | {"action_id": action_id},
    }
