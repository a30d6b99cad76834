"""What the screens of settings share: open, list, save and delete, for those who may.

Each function makes a listener that a screen registers with Bolt; the screen passes what differs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext
from bot.base.payloads import UnexpectedPayload
from bot.blocks import layout
from bot.interaction import modals
from bot.interaction.interaction import Interaction
from bot.screens import forms
from bot.screens.forms import Form
from storage.admin.effects import EffectsRecorder
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.db.pages import PageOf

Listener = Callable[[Interaction], Awaitable[None]]
# Who may use a screen: returns the caller, or raises.
Who = Callable[[Interaction], Awaitable[Caller]]
# Reads a modal. The last argument is a cursor of a list, or the id of what a form is about, or "".
Read = Callable[[Transaction, Interaction, Caller, str], View]


@dataclass(frozen=True, kw_only=True, slots=True)
class Saving:
    """A submitted form, and by whom and when. ``recorder`` records the effects in a dry run."""

    form: Form
    by: Caller
    now: datetime
    recorder: EffectsRecorder | None = None


Save = Callable[[Transaction, Saving], object]


class Change(Protocol):
    """A use case that needs only an id: it deletes, revokes, reactivates or unlinks."""

    def __call__(self, tx: Transaction, about: str, /, *, by: Caller, now: datetime) -> object: ...


@dataclass(frozen=True, slots=True)
class Screen:
    """A screen of the settings on Home: its button's label and action id, and its listeners."""

    label: str
    name: str
    register: Callable[[AsyncApp], None]


def opens(read: Read, *, who: Who = modals.admin) -> Listener:
    """Open the modal of the clicked button's value."""

    async def listener(interaction: Interaction) -> None:
        await show(interaction, read, interaction.value, who=who)

    return listener


async def show(
    interaction: Interaction, read: Read, about: str = "", *, who: Who = modals.admin
) -> None:
    await interaction.ack()
    by = await who(interaction)
    await interaction.open(await view(interaction, read, by, about))


async def view(interaction: Interaction, read: Read, by: Caller, about: str = "") -> View:
    return await interaction.database.read(read, interaction, by, about)


def shows_more(read: Read, *, who: Who = modals.admin) -> Listener:
    """Show the next page in place of the clicked list."""

    async def listener(interaction: Interaction) -> None:
        await interaction.ack()
        by = await who(interaction)
        await modals.refresh(interaction, await view(interaction, read, by, interaction.value))

    return listener


def chooses(listeners: Mapping[str, Listener]) -> Listener:
    """Do what was chosen in the menu of a row."""

    async def listener(interaction: Interaction) -> None:
        if interaction.choice not in listeners:
            raise UnexpectedPayload(interaction.choice)
        await listeners[interaction.choice](interaction)

    return listener


def saves(save: Save, below: Read, *, who: Who = modals.admin) -> Listener:
    """Save a form once, and refresh the list below it."""

    async def listener(interaction: Interaction) -> None:
        by, form = await who(interaction), Form(interaction)
        saving = Saving(form=form, by=by, now=interaction.now)
        saved = await modals.run_once(interaction, lambda tx: (save(tx, saving),))
        if saved is not None:
            await interaction.ack()
            await modals.refresh_below(interaction, await view(interaction, below, by))

    return listener


def confirms(save: Save, below: Read | None = None, *, is_below_about: bool = False) -> Listener:
    """Save an admin's form once; if that affects others, only after they confirm the effects.

    ``is_below_about``: the list below is of what the form is about.
    """

    async def listener(interaction: Interaction) -> None:
        by, form = await modals.admin(interaction), Form(interaction)
        saving = Saving(form=form, by=by, now=interaction.now)
        saved = await forms.submit(
            interaction,
            form,
            lambda tx, recorder: (save(tx, replace(saving, recorder=recorder)),),
            by=by,
        )
        if saved is None:
            return
        await interaction.ack()
        if below is not None:
            about = form.about if is_below_about else ""
            await modals.refresh_below(interaction, await view(interaction, below, by, about))

    return listener


def deletes(
    delete: Change,
    listed: Read,
    *,
    done: tuple[str, str] | None = None,
    who: Who = modals.admin,
) -> Listener:
    """Delete what the clicked button names, after Slack has asked for confirmation.

    The button is in the list, or in a modal above it, which then says ``done``: a title and a
    sentence.
    """

    async def listener(interaction: Interaction) -> None:
        await interaction.ack()
        by = await who(interaction)
        await interaction.database.write(delete, interaction.value, by=by, now=interaction.now)
        after = await view(interaction, listed, by)
        if done is None:
            await modals.refresh(interaction, after)
            return
        title, sentence = map(gettext, done)
        await modals.refresh(interaction, layout.notice(title, sentence))
        await modals.refresh_below(interaction, after)

    return listener


class Restore(Protocol):
    """A use case that changes fields of what has an id."""

    def __call__(
        self,
        tx: Transaction,
        about: str,
        changes: Mapping[str, object],
        /,
        *,
        by: Caller,
        now: datetime,
    ) -> object: ...


def restores(update: Restore, below: Read) -> Listener:
    """Restores what is archived, and shows the list again."""

    async def restore(interaction: Interaction) -> None:
        await interaction.ack()
        by = await modals.admin(interaction)
        changes = {"is_archived": False}
        await interaction.database.write(
            update, interaction.value, changes, by=by, now=interaction.now
        )
        await modals.refresh(interaction, await view(interaction, below, by))

    return restore


def removal(*, is_archived: bool) -> tuple[str, str]:
    """The choice of a row's menu that archives what is in use, or restores it."""
    if is_archived:
        return gettext("Restore"), ids.MENU_RESTORE
    return gettext("Archive…"), ids.MENU_ARCHIVE


def archiving_view(name: str, title: str, sentence: str, about: str) -> View:
    """Asks to archive; the screen ``name`` registers its ``.archive.form``."""
    return layout.modal(
        title,
        [layout.paragraph(sentence)],
        f"{name}.archive.form",
        gettext("Archive"),
        gettext("Keep it"),
        about,
    )


def page_of(cursor: str, limit: int = 40) -> PageOf:
    return PageOf(limit=limit, cursor=cursor or None)


def list_view(name: str, title: str, blocks: Sequence[Block], cursor: str | None) -> View:
    """A list; the screen ``name`` registers its ``.more``."""
    return layout.modal(title, [*blocks, *layout.show_more(f"{name}.more", cursor)])


def form_view(callback_id: str, title: str, blocks: Sequence[Block], about: str = "") -> View:
    """A form; ``about`` is the id of what it changes, "" if it adds."""
    submit = gettext("Save") if about else gettext("Add")
    return layout.modal(title, blocks, callback_id, submit, gettext("Back"), about)
