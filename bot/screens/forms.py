"""Settings forms: their values, the confirmation of their effects, and saving once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from typing import Final, Literal, TypeVar

import orjson
from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import Block
from bot.base.payloads import Answer, UnexpectedPayload, Values
from bot.blocks import fields
from bot.interaction import modals
from bot.interaction.interaction import Interaction
from bot.interaction.listening import Act
from bot.screens import consequences
from bot.screens.consequences import NamedEffects
from storage.admin.effects import EffectsRecorder
from storage.base.allowance_values import Amount
from storage.base.amounts import amount_of
from storage.base.errors import DomainError, NotFound
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.outbox import organisation_config
from storage.outbox.organisation_config import OrganisationConfig
from storage.people import allowance_terms, people_rows
from storage.rules.dated import Dated

T = TypeVar("T")

# Slack's names of an element's value; of options only the values are needed.
_STATES: Final[
    tuple[Literal["value", "selected_date", "selected_conversation", "selected_user"], ...]
] = ("value", "selected_date", "selected_conversation", "selected_user")


def register(app: AsyncApp, name: str, save: Act) -> None:
    """Register a form with a confirmation: one function handles both."""
    app.view(name)(save)
    app.view(name + ids.CONFIRMED)(save)


class Form:
    """A form's values, read from the form itself or from its confirmation.

    ``about`` is the id of the edited object, "" for a new one.
    """

    def __init__(self, interaction: Interaction) -> None:
        self._values: Values
        self.name = str(interaction.body["view"].get("callback_id") or "")
        self.is_confirmed = self.name.endswith(ids.CONFIRMED)
        if self.is_confirmed:
            self.about, self._values = _unpacked(interaction.private_metadata)
        else:
            self.about, self._values = interaction.private_metadata, interaction.values

    def has(self, name: str) -> bool:
        """Whether there is such a field: a form of an older version lacks newer ones."""
        return name in self._values

    def text(self, name: str) -> str | None:
        """The typed text; None if it is empty."""
        return fields.value_of(self._values, name)

    def chosen(self, name: str) -> str | None:
        """The value chosen from a menu; None for "none"."""
        value = self.text(name)
        return None if value == ids.NOTHING else value

    def several(self, name: str) -> list[str]:
        return fields.values_of(self._values, name)

    def working_days(self) -> list[str]:
        """The working days chosen in the menus in ``blocks.week``."""
        return [day for name in fields.WEEK_FIELDS if (day := self.chosen(name))]

    def half_days(self, name: str) -> Amount | None:
        """The typed days in half-days. Raises InvalidInput ``invalid_days``."""
        value = self._converted(name, self.text(name), float)
        return None if value is None else amount_of(value, name)

    def number(self, name: str) -> float | None:
        return self._converted(name, self.text(name), float)

    def whole(self, name: str) -> int | None:
        return self._converted(name, self.chosen(name), int)

    def day(self, name: str) -> date | None:
        return self._converted(name, self.text(name), date.fromisoformat)

    def _converted(self, name: str, value: str | None, convert: Callable[[str], T]) -> T | None:
        """Raises UnexpectedPayload, because Slack validates the input of such fields."""
        try:
            return None if value is None else convert(value)
        except ValueError as error:
            raise UnexpectedPayload(name) from error

    def packed(self) -> str:
        """All values as JSON, for the private metadata of the confirmation."""
        values = {
            block: {ids.ANSWER: _packed(state)}
            for block, states in self._values.items()
            for state in states.values()
        }
        return orjson.dumps({"about": self.about, "values": values}).decode()


def from_when(config: OrganisationConfig, values: Sequence[Dated], today: date) -> Block:
    """The field with the day from which changed values of an allowance count."""
    day, is_by_leave_year = allowance_terms.effective_from(config, None, today, values)
    return fields.from_when(None if is_by_leave_year else day)


# Saves a form; records the effects if it gets a recorder.
Save = Callable[[Transaction, EffectsRecorder | None], T]


async def submit(interaction: Interaction, form: Form, save: Save[T], *, by: Caller) -> T | None:
    """Save once even if the form is sent twice; ask to confirm if the change affects others.

    None if nothing was saved: refused, not confirmed yet, or saved before. The confirmation
    replaces the form, so that the view below is shown again when it is answered.
    """
    if not form.is_confirmed:
        named_effects = await _dry_run(interaction, save, by=by)
        if named_effects is None:
            return None
        if named_effects.effects.affects_others:
            view = consequences.before_saving(
                named_effects, form.name + ids.CONFIRMED, form.packed()
            )
            await modals.replace_form(interaction, view)
            return None
    return await modals.run_once(interaction, lambda tx: save(tx, None))


async def _dry_run(interaction: Interaction, save: Save[T], *, by: Caller) -> NamedEffects | None:
    """None if it was refused; the error is then shown at the field."""
    try:
        return await interaction.database.dry_run(effects_of, save, by=by)
    except DomainError as refusal:
        await modals.show_error(interaction, refusal)
        return None


def effects_of(tx: Transaction, change: Save[T], *, by: Caller) -> NamedEffects:
    """Make the change and return its effects with names; call it in a dry run."""
    config = organisation_config.of_organisation(tx, by.organisation_id)
    recorder = EffectsRecorder()
    change(tx, recorder)
    effects = recorder.effects
    return NamedEffects(
        effects=effects,
        names=people_rows.names(tx, by.organisation_id, consequences.user_ids(effects)),
        departments={department.id: department.name for department in config.departments.values()},
    )


def _packed(state: Answer) -> dict[str, object]:
    packed: dict[str, object] = {name: state[name] for name in _STATES if state.get(name)}
    if option := state.get("selected_option"):
        packed["selected_option"] = {"value": option["value"]}
    if options := state.get("selected_options"):
        packed["selected_options"] = [{"value": option["value"]} for option in options]
    return packed


def _unpacked(metadata: str) -> tuple[str, Values]:
    """Raises NotFound if the metadata is not ours."""
    try:
        form = orjson.loads(metadata)
        return str(form["about"]), form["values"]
    except (ValueError, KeyError, TypeError) as error:
        raise NotFound("form") from error
