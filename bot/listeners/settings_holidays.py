"""Settings of an admin: public holidays, and where they differ from the country's."""

from __future__ import annotations

from typing import Any, Final, Literal

from bot.admin_views import settings_holidays as views
from bot.base import ids
from bot.base.language import later, locale, say
from bot.interaction import forms, modals
from bot.interaction.forms import Form
from bot.interaction.listening import Listener, Visit
from bot.views import replies
from storage.admin import holiday_overrides, holiday_set_removal
from storage.admin.effects import EffectsRecorder
from storage.admin.holiday_overrides import NewOverride
from storage.base.errors import AlreadyExists, InvalidInput
from storage.base.values import Caller, HolidayOverride
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.directory import holiday_sets
from storage.events import organisation_config
from storage.rules import holiday_calendar

_SETS_SHOWN: Final = 40
_OVERRIDES_SHOWN: Final = 30


async def list_sets(visit: Visit) -> None:
    """Open the list of countries."""
    await visit.ack()
    by = await modals.admin(visit)
    await visit.open(await _sets(visit, by))


async def more_sets(visit: Visit) -> None:
    """Show the next part of the list."""
    await visit.ack()
    by = await modals.admin(visit)
    await modals.redraw(visit, await _sets(visit, by, modals.clicked(visit)))


async def new_set(visit: Visit) -> None:
    """Open the form that adds a country."""
    await visit.ack()
    await modals.admin(visit)
    await visit.open(views.set_form())


async def add_set(visit: Visit) -> None:
    """Add a country or region."""
    by = await modals.admin(visit)
    code = Form(visit).chosen("country_code") or ""
    added = await modals.sent(
        visit, lambda tx: holiday_sets.add(tx, code, by=by, now=visit.now), is_long=True
    )
    if added is not None:
        await visit.ack()
        await modals.redraw_below(visit, await _sets(visit, by))


async def remove_set(visit: Visit) -> None:
    """Remove a country that nobody goes by; Slack has asked whether that is meant."""
    await visit.ack()
    by = await modals.admin(visit)
    await visit.edge.database.write(
        holiday_set_removal.remove, modals.clicked(visit), by=by, now=visit.now
    )
    done = replies.notice(say("Public holidays"), say("The country was removed."))
    await modals.redraw(visit, done)
    await modals.redraw_below(visit, await _sets(visit, by))


async def list_overrides(visit: Visit) -> None:
    """Open the days on which a set differs from its country."""
    await visit.ack()
    by = await modals.admin(visit)
    await visit.open(await _overrides(visit, by, modals.clicked(visit)))


async def more_overrides(visit: Visit) -> None:
    """Show the next part of the list."""
    await visit.ack()
    by = await modals.admin(visit)
    shown = await _overrides(visit, by, modals.kept(visit), modals.clicked(visit))
    await modals.redraw(visit, shown)


async def new_override(visit: Visit) -> None:
    """Open the form that changes a day."""
    await visit.ack()
    await modals.admin(visit)
    await visit.open(views.override_form(modals.clicked(visit)))


async def add_override(visit: Visit) -> None:
    """Change a day, and count leave anew."""
    by, form = await modals.admin(visit), Form(visit)

    def save(tx: Transaction, recorder: EffectsRecorder | None) -> object:
        return _add(tx, form, by=by, now=visit.now, recorder=recorder)

    if await forms.saved(visit, form, save, by=by) is not None:
        await visit.ack()
        await modals.redraw_below(visit, await _overrides(visit, by, form.about))


def _add(tx: Transaction, form: Form, **how: Any) -> HolidayOverride:
    """Add the override that was filled in. Raises InvalidInput, and what ``add`` raises."""
    day = form.day("date")
    if day is None:
        raise InvalidInput.of("date", "required", later("Choose a day."))
    is_holiday = form.chosen("is_holiday") != views.WORK
    new = NewOverride(
        date=day, name=form.text("name"), is_holiday=is_holiday, half=_half(form.chosen("half"))
    )
    try:
        return holiday_overrides.add(tx, form.about, new, **how)
    except AlreadyExists as refusal:
        raise InvalidInput.of("date", "already_exists", refusal.detail) from refusal


async def ask_removal(visit: Visit) -> None:
    """Show what would follow from taking a change back, before anything does."""
    await visit.ack()
    by = await modals.admin(visit)
    set_id, override_id = modals.kept(visit), modals.clicked(visit)

    def try_out(tx: Transaction) -> dict[str, Any]:
        override = holiday_overrides.get(tx, set_id, override_id, by=by)
        sight = forms.effects_of(
            tx,
            lambda tx, recorder: holiday_overrides.remove(
                tx, set_id, override_id, by=by, now=visit.now, recorder=recorder
            ),
            by=by,
        )
        return views.removal(set_id, override, sight)

    await visit.open(await visit.edge.database.dry_run(try_out))


async def remove_override(visit: Visit) -> None:
    """Take a change back."""
    by = await modals.admin(visit)
    set_id, _, override_id = modals.kept(visit).partition(" ")
    removed = await modals.sent(
        visit,
        lambda tx: holiday_overrides.remove(tx, set_id, override_id, by=by, now=visit.now),
        is_long=True,
    )
    if removed is not None:
        await visit.ack()
        await modals.redraw_below(visit, await _overrides(visit, by, set_id))


def _half(given: str | None) -> Literal["am", "pm"] | None:
    return "am" if given == "am" else "pm" if given == "pm" else None


async def _sets(visit: Visit, by: Caller, cursor: str | None = None) -> dict[str, Any]:
    def read(tx: Transaction) -> dict[str, Any]:
        page = holiday_sets.page(tx, PageOf(limit=_SETS_SHOWN, cursor=cursor), by=by)
        codes = [one.country_code for one in page.items]
        return views.sets(
            page, {code: holiday_calendar.country_name(code, locale()) for code in codes}
        )

    # The first look at countries in a process takes a second.
    return await visit.edge.database.read_long(read)


async def _overrides(
    visit: Visit, by: Caller, set_id: str, cursor: str | None = None
) -> dict[str, Any]:
    def read(tx: Transaction) -> dict[str, Any]:
        one = holiday_sets.get(organisation_config.of_organisation(tx, by.organisation_id), set_id)
        page = holiday_overrides.page(
            tx, set_id, PageOf(limit=_OVERRIDES_SHOWN, cursor=cursor), by=by
        )
        return views.overrides(one, holiday_calendar.country_name(one.country_code, locale()), page)

    return await visit.edge.database.read_long(read)


LISTENERS: Final = (
    Listener(kind="action", name=ids.HOLIDAYS, act=list_sets),
    Listener(kind="action", name=ids.HOLIDAYS_MORE, act=more_sets),
    Listener(kind="action", name=ids.HOLIDAYS_NEW, act=new_set),
    Listener(kind="view", name=ids.HOLIDAYS_FORM, act=add_set),
    Listener(kind="action", name=ids.HOLIDAYS_REMOVE, act=remove_set),
    Listener(kind="action", name=ids.OVERRIDES, act=list_overrides),
    Listener(kind="action", name=ids.OVERRIDES_MORE, act=more_overrides),
    Listener(kind="action", name=ids.OVERRIDE_NEW, act=new_override),
    *forms.listeners(ids.OVERRIDE_FORM, add_override),
    Listener(kind="action", name=ids.OVERRIDE_REMOVE, act=ask_removal),
    Listener(kind="view", name=ids.OVERRIDE_REMOVE_FORM, act=remove_override),
)
