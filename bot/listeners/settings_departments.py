"""Settings of an admin: departments."""

from __future__ import annotations

from typing import Any, Final

from bot.admin_views import settings_departments as views
from bot.base import ids
from bot.base.language import say
from bot.interaction import forms, modals
from bot.interaction.forms import Form
from bot.interaction.listening import Listener, Visit
from bot.views import replies
from storage.admin import departments
from storage.admin.effects import EffectsRecorder
from storage.base.values import Caller
from storage.db.database import Transaction
from storage.db.pages import PageOf
from storage.directory import people_search

_SHOWN: Final = 40


async def list_departments(visit: Visit) -> None:
    """Open the list of departments."""
    await visit.ack()
    by = await modals.admin(visit)
    await visit.open(await _departments(visit, by))


async def more_departments(visit: Visit) -> None:
    """Show the next part of the list."""
    await visit.ack()
    by = await modals.admin(visit)
    await modals.redraw(visit, await _departments(visit, by, modals.clicked(visit)))


async def new_department(visit: Visit) -> None:
    """Open an empty form."""
    await visit.ack()
    await modals.admin(visit)
    await visit.open(views.department(None, None))


async def edit_department(visit: Visit) -> None:
    """Open the form of one department."""
    await visit.ack()
    by = await modals.admin(visit)

    def read(tx: Transaction) -> dict[str, Any]:
        one = departments.get(tx, modals.clicked(visit), by=by)
        return views.department(one, people_search.option(tx, one.manager_id, by=by))

    await visit.open(await visit.edge.database.read(read))


async def save_department(visit: Visit) -> None:
    """Add the department, or change the one that the form is about."""
    by, form = await modals.admin(visit), Form(visit)

    def values() -> dict[str, Any]:
        return {
            "name": form.text("name") or "",
            "manager_id": form.chosen("manager_id"),
            "default_leave_allowance_half_days": form.half_days("default_leave_allowance"),
        }

    def save(tx: Transaction, recorder: EffectsRecorder | None) -> object:
        if not form.about:
            return departments.create(tx, values(), by=by, now=visit.now)
        return departments.update(tx, form.about, values(), by=by, now=visit.now, recorder=recorder)

    if await forms.saved(visit, form, save, by=by) is not None:
        await visit.ack()
        await modals.redraw_below(visit, await _departments(visit, by))


async def delete_department(visit: Visit) -> None:
    """Delete it, if nobody belongs to it; Slack has asked whether that is meant."""
    await visit.ack()
    by = await modals.admin(visit)
    # Archived people leave it, however many there are.
    await visit.edge.database.write_long(
        departments.delete, modals.clicked(visit), by=by, now=visit.now
    )
    await modals.redraw(
        visit, replies.notice(say("Department"), say("The department was deleted."))
    )
    await modals.redraw_below(visit, await _departments(visit, by))


async def _departments(visit: Visit, by: Caller, cursor: str | None = None) -> dict[str, Any]:
    page = await visit.edge.database.read(
        departments.page, PageOf(limit=_SHOWN, cursor=cursor), by=by
    )
    return views.departments(page)


LISTENERS: Final = (
    Listener(kind="action", name=ids.DEPARTMENTS, act=list_departments),
    Listener(kind="action", name=ids.DEPARTMENTS_MORE, act=more_departments),
    Listener(kind="action", name=ids.DEPARTMENT_NEW, act=new_department),
    Listener(kind="action", name=ids.DEPARTMENT_EDIT, act=edit_department),
    *forms.listeners(ids.DEPARTMENT_FORM, save_department),
    Listener(kind="action", name=ids.DEPARTMENT_DELETE, act=delete_department),
)
