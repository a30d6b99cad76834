"""Forms of the settings: what was filled in, what would follow from it, and doing that once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Final, Literal, TypeVar

import orjson

from bot.base import ids
from bot.base.payloads import Answer, UnexpectedPayload, Values
from bot.interaction import modals
from bot.interaction.interaction import Interaction
from bot.interaction.listening import Act, Listener
from bot.views import consequences, fields
from bot.views.consequences import NamedEffects
from storage.admin.effects import EffectsRecorder
from storage.base.amounts import half_days_of
from storage.base.errors import NotFound, Refusal
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.directory import people_rows
from storage.events import organisation_config

T = TypeVar("T")

# How Slack names what was typed or chosen in one element; of options their values are enough.
_STATES: Final[
    tuple[Literal["value", "selected_date", "selected_conversation", "selected_user"], ...]
] = ("value", "selected_date", "selected_conversation", "selected_user")


def listeners(name: str, save: Act) -> tuple[Listener, Listener]:
    """Of a form that may ask whether it is meant: one function saves the form and the answer."""
    return Listener(kind="view", name=name, act=save), Listener(
        kind="view", name=name + ids.CONFIRMED, act=save
    )


class Form:
    """What somebody filled in, read the same whether he was asked to confirm it or not.

    ``about`` is the id that the form is about, "" where it makes something new.
    """

    def __init__(self, interaction: Interaction) -> None:
        self._values: Values
        self.name = str(interaction.body["view"].get("callback_id") or "")
        self.is_confirmed = self.name.endswith(ids.CONFIRMED)
        if self.is_confirmed:
            self.about, self._values = _unpacked(modals.kept(interaction))
        else:
            self.about, self._values = modals.kept(interaction), interaction.values

    def text(self, name: str) -> str | None:
        """What was typed; None where that is nothing."""
        return fields.answer(self._values, name)

    def chosen(self, name: str) -> str | None:
        """What was chosen from a menu; None where that is nothing."""
        given = self.text(name)
        return None if given == ids.NOTHING else given

    def several(self, name: str) -> list[str]:
        """The values of everything that was chosen or ticked."""
        return fields.answers(self._values, name)

    def half_days(self, name: str) -> int | None:
        """Half-days of the days that were typed. Raises InvalidInput ``not_half_days``."""
        given = self._converted(name, self.text(name), float)
        return None if given is None else half_days_of(given, name)

    def whole(self, name: str) -> int | None:
        """A whole number that was typed or chosen."""
        return self._converted(name, self.chosen(name), int)

    def day(self, name: str) -> date | None:
        """A picked date."""
        return self._converted(name, self.text(name), date.fromisoformat)

    def _converted(self, name: str, given: str | None, convert: Callable[[str], T]) -> T | None:
        """Raises UnexpectedPayload: Slack lets people type nothing else into such a field."""
        try:
            return None if given is None else convert(given)
        except ValueError as error:
            raise UnexpectedPayload(name) from error

    def packed(self) -> str:
        """Everything that was filled in, for the view that asks whether it is meant."""
        values = {
            block: {ids.ANSWER: kept}
            for block, states in self._values.items()
            for state in states.values()
            if (kept := _kept(state))
        }
        return orjson.dumps({"about": self.about, "values": values}).decode()


# Carries out what a form asks for, and records what that does to others where it is handed one.
Save = Callable[[Transaction, EffectsRecorder | None], T]


async def saved(interaction: Interaction, form: Form, save: Save[T], *, by: Caller) -> T | None:
    """Save once however often the form is sent; ask first where it changes leave or overdraws.

    None while nothing was saved: refused, asked, or done before. The question takes the form's
    place, so that what is below it is there again as soon as it is answered.
    """
    if not form.is_confirmed:
        named_effects = await _tried(interaction, save, by=by)
        if named_effects is None:
            return None
        if named_effects.effects.concerns_others:
            view = consequences.before_saving(
                named_effects, form.name + ids.CONFIRMED, form.packed()
            )
            await modals.answer_with(interaction, view)
            return None
    return await modals.sent(interaction, lambda tx: save(tx, None), is_long=True)


async def _tried(interaction: Interaction, save: Save[T], *, by: Caller) -> NamedEffects | None:
    """None where it is refused, which is then said at the field at fault."""
    try:
        return await interaction.services.database.dry_run(effects_of, save, by=by)
    except Refusal as refusal:
        await modals.refuse(interaction, refusal)
        return None


def effects_of(tx: Transaction, change: Save[T], *, by: Caller) -> NamedEffects:
    """Carry out the change, and name what it did and to whom; for a dry run."""
    known = organisation_config.of_organisation(tx, by.organisation_id)
    recorder = EffectsRecorder()
    change(tx, recorder)
    effects = recorder.effects
    return NamedEffects(
        effects=effects,
        names=people_rows.names(tx, by.organisation_id, consequences.named(effects)),
        departments={one.id: one.name for one in known.departments.values()},
    )


def _kept(state: Answer) -> dict[str, object]:
    kept: dict[str, object] = {name: state[name] for name in _STATES if state.get(name)}
    if option := state.get("selected_option"):
        kept["selected_option"] = {"value": option["value"]}
    if options := state.get("selected_options"):
        kept["selected_options"] = [{"value": one["value"]} for one in options]
    return kept


def _unpacked(kept: str) -> tuple[str, Values]:
    """Raises NotFound for what no form of ours has kept."""
    try:
        found = orjson.loads(kept)
        return str(found["about"]), found["values"]
    except (ValueError, KeyError, TypeError) as error:
        raise NotFound("form") from error
