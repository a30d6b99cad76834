"""Settings of an admin: people and departments."""

from __future__ import annotations

from typing import Any, Final

from bot import ids, modals
from bot.language import say
from bot.listening import Listener, Visit
from bot.views import fields, replies
from bot.views import settings_people as views
from storage import departments, people, people_search, reference
from storage.database import Transaction
from storage.effects import Effects
from storage.pages import PageOf
from storage.values import Caller, User

_DEPARTMENTS_SHOWN: Final = 40


async def search(visit: Visit) -> None:
    """Open the search for a person."""
    await visit.ack()
    await modals.admin(visit)
    await visit.open(views.people())


async def offer_people(visit: Visit) -> None:
    """What the search finds for what was typed so far."""
    by = await modals.admin(visit)
    typed = str(visit.body.get("value") or "")
    found = await visit.edge.database.read_long(people_search.find, typed, by=by)
    with_nobody = visit.body["action_id"] == ids.PERSON_SEARCH
    await visit.ack(options=views.person_options(found, with_nobody=with_nobody))


async def person(visit: Visit) -> None:
    """Open the form of the person who was picked."""
    await visit.ack()
    by = await modals.admin(visit)
    await visit.open(await _person(visit, by, modals.clicked(visit)))


async def save_person(visit: Visit) -> None:
    """Change the person as the form says."""
    by = await modals.admin(visit)
    user_id = modals.kept(visit)

    def save(tx: Transaction) -> User:
        first_day = modals.day_of(fields.answer(visit.values, "start_date"))
        changes = {
            "department_id": modals.chosen(visit, "department_id"),
            "manager_id": modals.chosen(visit, "manager_id"),
            "working_days": fields.answers(visit.values, "working_days") or None,
            "leave_allowance_half_days": modals.half_days(visit, "leave_allowance"),
            "start_date": first_day,
            "public_holiday_country_code": modals.chosen(visit, "public_holiday_country_code"),
            "role": modals.chosen(visit, "role"),
        }
        return people.update(tx, user_id, changes, by=by, now=visit.now)

    if await modals.sent(visit, save, is_long=True) is not None:
        await visit.ack()


async def ask_deactivation(visit: Visit) -> None:
    """Show what would follow, before anything does."""
    await visit.ack()
    by = await modals.admin(visit)
    user_id = modals.clicked(visit)

    def foresee(tx: Transaction) -> tuple[User, Effects]:
        effects = people.foresee_deactivate(tx, user_id, by=by, now=visit.now)
        return people.get(tx, user_id, by=by), effects

    user, effects = await visit.edge.database.read_long(foresee)
    await visit.open(views.deactivation(user, effects))


async def deactivate(visit: Visit) -> None:
    """Switch the person off."""
    by = await modals.admin(visit)
    user_id = modals.kept(visit)
    done = await visit.edge.database.write_long(people.deactivate, user_id, by=by, now=visit.now)
    await visit.ack()
    await modals.redraw_below(visit, await _person(visit, by, done.id))


async def reactivate(visit: Visit) -> None:
    """Switch the person on again; Slack has asked whether that is meant."""
    await visit.ack()
    by = await modals.admin(visit)
    user_id = modals.clicked(visit)
    await visit.edge.database.write_long(people.reactivate, user_id, by=by, now=visit.now)
    await modals.redraw(visit, await _person(visit, by, user_id))


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
    by = await modals.admin(visit)
    department_id = modals.kept(visit)

    def save(tx: Transaction) -> object:
        values = {
            "name": fields.answer(visit.values, "name") or "",
            "manager_id": modals.chosen(visit, "manager_id"),
            "default_leave_allowance_half_days": modals.half_days(visit, "default_leave_allowance"),
        }
        if department_id:
            return departments.update(tx, department_id, values, by=by, now=visit.now)
        return departments.create(tx, values, by=by, now=visit.now)

    if await modals.sent(visit, save, is_long=True) is not None:
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


async def _person(visit: Visit, by: Caller, user_id: str) -> dict[str, Any]:
    def read(tx: Transaction) -> dict[str, Any]:
        user = people.get(tx, user_id, by=by)
        known = reference.of_organisation(tx, by.organisation_id)
        manager = people_search.option(tx, user.manager_id, by=by)
        return views.person(user, manager, list(known.departments.values()))

    return await visit.edge.database.read(read)


async def _departments(visit: Visit, by: Caller, cursor: str | None = None) -> dict[str, Any]:
    page = await visit.edge.database.read(
        departments.page, PageOf(_DEPARTMENTS_SHOWN, cursor), by=by
    )
    return views.departments(page)


LISTENERS: Final = (
    Listener("action", ids.PEOPLE, search),
    Listener("options", ids.PEOPLE_PICK, offer_people),
    Listener("options", ids.PERSON_SEARCH, offer_people),
    Listener("action", ids.PEOPLE_PICK, person),
    Listener("view", ids.PERSON_FORM, save_person),
    Listener("action", ids.PERSON_DEACTIVATE, ask_deactivation),
    Listener("view", ids.PERSON_DEACTIVATE_FORM, deactivate),
    Listener("action", ids.PERSON_REACTIVATE, reactivate),
    Listener("action", ids.DEPARTMENTS, list_departments),
    Listener("action", ids.DEPARTMENTS_MORE, more_departments),
    Listener("action", ids.DEPARTMENT_NEW, new_department),
    Listener("action", ids.DEPARTMENT_EDIT, edit_department),
    Listener("view", ids.DEPARTMENT_FORM, save_department),
    Listener("action", ids.DEPARTMENT_DELETE, delete_department),
)
