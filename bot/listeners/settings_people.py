"""Settings of an admin: people, added, changed, switched off and archived."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from bot.admin_views import settings_people as views
from bot.base import ids
from bot.base.language import later, say
from bot.interaction import forms, identity, modals
from bot.interaction.forms import Form
from bot.interaction.listening import Listener, Visit
from bot.views import replies
from bot.views.consequences import Sight
from storage.admin import people
from storage.admin.effects import EffectsRecorder
from storage.base.errors import EmailTaken, FieldError, InvalidInput
from storage.base.values import Caller, User
from storage.db.database import Transaction
from storage.directory import people_rows, people_search
from storage.directory.slack_matching import SlackProfile
from storage.events import organisation_config
from storage.slack import slack_profiles
from storage.slack.provisioning import NotAMember

_NEEDED: Final = later("Required unless you choose a person in Slack.")


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


async def offer_departments(visit: Visit) -> None:
    """Departments for what was typed so far."""
    by = await modals.admin(visit)
    typed = str(visit.body.get("value") or "")
    known = await visit.edge.database.read(organisation_config.of_organisation, by.organisation_id)
    await visit.ack(options=views.department_options(known.departments.values(), typed))


async def person(visit: Visit) -> None:
    """Open the form of the person who was picked."""
    await visit.ack()
    by = await modals.admin(visit)
    await visit.open(await _person(visit, by, modals.clicked(visit)))


async def save_person(visit: Visit) -> None:
    """Change the person as the form says."""
    by, form = await modals.admin(visit), Form(visit)

    def changes() -> dict[str, Any]:
        return _office(form) | {
            "working_days": form.several("working_days") or None,
            "leave_allowance_half_days": form.half_days("leave_allowance"),
            "start_date": form.day("start_date"),
            "public_holiday_country_code": form.chosen("public_holiday_country_code"),
        }

    def save(tx: Transaction, recorder: EffectsRecorder | None) -> object:
        return people.update(tx, form.about, changes(), by=by, now=visit.now, recorder=recorder)

    if await forms.saved(visit, form, save, by=by) is not None:
        await visit.ack()


async def new_person(visit: Visit) -> None:
    """Open the form that adds somebody."""
    await visit.ack()
    by = await modals.admin(visit)
    known = await visit.edge.database.read(organisation_config.of_organisation, by.organisation_id)
    await visit.open(views.new_person(list(known.departments.values())))


async def add_person(visit: Visit) -> None:
    """Add somebody, and show the rest of his settings in place of the form."""
    by, form = await modals.admin(visit), Form(visit)
    profile, values = None, _identity(form) | _office(form)
    if slack_user_id := form.chosen("slack_user_id"):
        try:
            member = await identity.full_member(visit, slack_user_id)
        except NotAMember as refusal:
            await modals.refuse(visit, refusal)
            return
        profile = identity.profile_of(member)
    added = await modals.sent(
        visit, lambda tx: _added(tx, profile, values, by=by, visit=visit), is_long=True
    )
    if added is not None:
        await modals.answer_with(visit, await _person(visit, by, added.id))


def _identity(form: Form) -> dict[str, Any]:
    """What was typed about who it is."""
    typed = {name: form.text(name) for name in ("email", "first_name", "last_name")}
    return {name: value for name, value in typed.items() if value is not None}


def _office(form: Form) -> dict[str, Any]:
    """What both forms ask."""
    return {
        "role": form.chosen("role"),
        "department_id": form.chosen("department_id"),
        "manager_id": form.chosen("manager_id"),
    }


def _added(
    tx: Transaction,
    profile: SlackProfile | None,
    values: dict[str, Any],
    *,
    by: Caller,
    visit: Visit,
) -> User:
    if profile is not None:
        return slack_profiles.add(tx, profile, values, by=by, now=visit.now)
    missing = [name for name in ("email", "first_name", "last_name") if name not in values]
    if missing:
        raise InvalidInput(
            [FieldError(pointer=f"/{name}", code="required", detail=_NEEDED) for name in missing]
        )
    try:
        return people.create(tx, values, by=by, now=visit.now)
    except EmailTaken as refusal:
        raise InvalidInput.of("email", refusal.code, refusal.detail) from refusal


async def ask_deactivation(visit: Visit) -> None:
    """Show what would follow, before anything does."""
    await _ask(visit, people.deactivate, views.deactivation)


async def deactivate(visit: Visit) -> None:
    """Switch the person off."""
    by, form = await modals.admin(visit), Form(visit)
    done = await modals.sent(
        visit,
        lambda tx: people.deactivate(tx, form.about, by=by, now=visit.now),
        is_long=True,
    )
    if done is not None:
        await visit.ack()
        await modals.redraw_below(visit, await _person(visit, by, done.id))


async def reactivate(visit: Visit) -> None:
    """Switch the person on again; Slack has asked whether that is meant."""
    await visit.ack()
    by = await modals.admin(visit)
    user_id = modals.clicked(visit)
    await visit.edge.database.write_long(people.reactivate, user_id, by=by, now=visit.now)
    await modals.redraw(visit, await _person(visit, by, user_id))


async def unlink(visit: Visit) -> None:
    """Separate the person from their Slack account; Slack has asked for confirmation."""
    await visit.ack()
    by = await modals.admin(visit)
    user_id = modals.clicked(visit)
    await visit.edge.database.write_long(slack_profiles.unlink, user_id, by=by, now=visit.now)
    await modals.redraw(visit, await _person(visit, by, user_id))


async def ask_archiving(visit: Visit) -> None:
    """Show what would follow, before anything does."""
    await _ask(visit, people.archive, views.archiving)


async def archive(visit: Visit) -> None:
    """Take the person out for good."""
    by, form = await modals.admin(visit), Form(visit)
    done = await modals.sent(
        visit, lambda tx: people.archive(tx, form.about, by=by, now=visit.now), is_long=True
    )
    if done is not None:
        await visit.ack()
        told = say("{name} was archived.", name=done.name)
        await modals.redraw_below(visit, replies.notice(say("Person"), told))


async def _ask(
    visit: Visit,
    change: Callable[..., User],
    question: Callable[[User, Sight], dict[str, Any]],
) -> None:
    await visit.ack()
    by = await modals.admin(visit)
    user_id = modals.clicked(visit)

    def try_out(tx: Transaction) -> dict[str, Any]:
        user = people_rows.get(tx, user_id, by=by)
        sight = forms.effects_of(
            tx,
            lambda tx, recorder: change(tx, user_id, by=by, now=visit.now, recorder=recorder),
            by=by,
        )
        return question(user, sight)

    await visit.open(await visit.edge.database.dry_run(try_out))


async def _person(visit: Visit, by: Caller, user_id: str) -> dict[str, Any]:
    def read(tx: Transaction) -> dict[str, Any]:
        user = people_rows.get(tx, user_id, by=by)
        known = organisation_config.of_organisation(tx, by.organisation_id)
        manager = people_search.option(tx, user.manager_id, by=by)
        return views.person(user, manager, list(known.departments.values()))

    return await visit.edge.database.read(read)


LISTENERS: Final = (
    Listener(kind="action", name=ids.PEOPLE, act=search),
    Listener(kind="options", name=ids.PEOPLE_PICK, act=offer_people),
    Listener(kind="options", name=ids.PERSON_SEARCH, act=offer_people),
    Listener(kind="options", name=ids.DEPARTMENT_SEARCH, act=offer_departments),
    Listener(kind="action", name=ids.PEOPLE_PICK, act=person),
    *forms.listeners(ids.PERSON_FORM, save_person),
    Listener(kind="action", name=ids.PERSON_NEW, act=new_person),
    Listener(kind="view", name=ids.PERSON_NEW_FORM, act=add_person),
    Listener(kind="action", name=ids.PERSON_DEACTIVATE, act=ask_deactivation),
    Listener(kind="view", name=ids.PERSON_DEACTIVATE_FORM, act=deactivate),
    Listener(kind="action", name=ids.PERSON_REACTIVATE, act=reactivate),
    Listener(kind="action", name=ids.PERSON_UNLINK, act=unlink),
    Listener(kind="action", name=ids.PERSON_ARCHIVE, act=ask_archiving),
    Listener(kind="view", name=ids.PERSON_ARCHIVE_FORM, act=archive),
)
