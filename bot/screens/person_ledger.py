"""Settings: where a person's balances come from, as of any day, in the modal of their balance."""

from __future__ import annotations

from datetime import date, datetime
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base.block_kit import Block, View
from bot.base.language import gettext
from bot.blocks import fields, layout, words
from bot.interaction import errors, modals
from bot.interaction.interaction import Interaction
from bot.screens.person_form import NAME
from bot.views import balance as views
from storage.base.errors import InvalidInput
from storage.base.values import Caller, User
from storage.db.database import Transaction
from storage.leave import ledgers
from storage.outbox import organisation_config
from storage.people import people_rows

LEDGER: Final = f"{NAME}.ledger"
# Shows the form that adjusts the balance in place of the ledger.
ADJUST: Final = f"{NAME}.ledger.adjust"
_DAY: Final = f"{NAME}.ledger.day"


def button(user_id: str) -> Block:
    """Opens the ledger, in place of the modal that has it: Slack stacks at most three."""
    return layout.button(gettext("Where do these days come from?"), LEDGER, user_id)


def view(user: User, on: date, ledgers: list[Block]) -> View:
    """``ledgers`` are those as of the day, or why there are none."""
    blocks = [
        layout.row(user.name or user.email, []),
        views.day_picker(on, _DAY),
        layout.actions(layout.button(gettext("Adjust the balance"), ADJUST, user.id)),
        *ledgers,
    ]
    return layout.modal(gettext("Balance"), blocks, private_metadata=user.id)


async def _open(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    shown = await interaction.database.read(
        _view, interaction.value, None, by=by, now=interaction.now
    )
    await modals.refresh(interaction, shown)


async def _pick_day(interaction: Interaction) -> None:
    await interaction.ack()
    by = await modals.admin(interaction)
    on = fields.date_of(interaction.values, views.DAY)
    shown = await interaction.database.read(
        _view, interaction.private_metadata, on, by=by, now=interaction.now
    )
    await modals.refresh(interaction, shown)


def _view(tx: Transaction, user_id: str, on: date | None, *, by: Caller, now: datetime) -> View:
    """A day out of reach is explained in place of the ledgers."""
    user = people_rows.get(tx, user_id, by=by)
    try:
        balances = ledgers.balances(tx, user_id, on=on, by=by, now=now)
    except InvalidInput as refusal:
        return view(user, on or now.date(), [layout.paragraph(errors.sentence(refusal))])
    types = organisation_config.of_organisation(tx, by.organisation_id).leave_types
    names = {each.id: words.leave_type(each) for each in types.values()}
    return view(user, balances[0].on, views.ledgers(balances, names, is_own=False))


def register(app: AsyncApp) -> None:
    app.action(LEDGER)(_open)
    app.action(_DAY)(_pick_day)
