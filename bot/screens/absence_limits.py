"""Settings: absence limits, how many people may be away at the same time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop, ngettext
from bot.blocks import fields, layout, words
from bot.blocks.fields import Option
from bot.interaction.interaction import Interaction
from bot.screens import forms, screen, searches
from bot.screens.forms import Form
from bot.screens.screen import Saving, Screen
from storage.admin import absence_limits
from storage.admin.absence_limits import MAX_NUMBER
from storage.base.leave_values import AbsenceLimit
from storage.base.values import Caller, Department, User
from storage.db.database import Transaction
from storage.db.pages import Page
from storage.outbox import organisation_config
from storage.people import people_rows

NAME: Final = "settings.absence_limits"
_PERSON: Final = f"{NAME}.person"
# More do not fit into the private metadata of a confirmation (3,000 characters).
_MAX_PEOPLE: Final = 40
_ENFORCEMENTS: Final = (
    Option(label=gettext_noop("Refuse requests that exceed it"), value="block"),
    Option(label=gettext_noop("Only warn"), value="warn"),
)
_STATES: Final = (
    Option(label=gettext_noop("Active"), value="active"),
    Option(label=gettext_noop("Switched off"), value="off"),
)


def _read_list(tx: Transaction, interaction: Interaction, by: Caller, cursor: str) -> View:
    config = organisation_config.of_organisation(tx, by.organisation_id)
    return list_view(absence_limits.page(tx, screen.page_of(cursor), by=by), config.departments)


def list_view(page: Page[AbsenceLimit], departments: Mapping[str, Department]) -> View:
    blocks: list[Block] = [
        layout.section(
            gettext(
                "An absence limit keeps enough people at work. I tell people before they request "
                "leave, and their approvers when they decide."
            )
        ),
        layout.actions(layout.button(gettext("Add an absence limit"), f"{NAME}.new")),
    ]
    blocks += [_row(limit, departments) for limit in page.items]
    return screen.list_view(NAME, gettext("Absence limits"), blocks, page.next_cursor)


def _row(limit: AbsenceLimit, departments: Mapping[str, Department]) -> Block:
    facts = [_number(limit), _group(limit, departments)]
    if when := _dates(limit):
        facts.append(when)
    if limit.enforcement == "warn":
        facts.append(gettext("Only warns"))
    if not limit.is_active:
        facts.append(gettext("Switched off"))
    edit = layout.button(
        gettext("Edit"), f"{NAME}.edit", limit.id, spoken=gettext("Edit {name}", name=limit.name)
    )
    return {**layout.row(limit.name, facts), "accessory": edit}


def _number(limit: AbsenceLimit) -> str:
    if limit.min_present is not None:
        return gettext("At least {count} at work", count=limit.min_present)
    return gettext("At most {count} away", count=limit.max_away)


def _group(limit: AbsenceLimit, departments: Mapping[str, Department]) -> str:
    if limit.user_ids is not None:
        count = len(limit.user_ids)
        return ngettext("{count} person", "{count} people", count)
    department = departments.get(limit.department_id or "")
    return gettext("Everyone") if department is None else layout.name(department.name)


def _dates(limit: AbsenceLimit) -> str:
    if limit.first_day is not None and limit.last_day is not None:
        return words.span(limit.first_day, limit.last_day)
    if limit.first_day is not None:
        return gettext("From {day}", day=words.day(limit.first_day))
    if limit.last_day is not None:
        return gettext("Until {day}", day=words.day(limit.last_day))
    return ""


def _read_form(tx: Transaction, interaction: Interaction, by: Caller, limit_id: str) -> View:
    limit = absence_limits.get(tx, limit_id, by=by) if limit_id else None
    config = organisation_config.of_organisation(tx, by.organisation_id)
    user_ids = (limit and limit.user_ids) or ()
    people = people_rows.of_ids(tx, by.organisation_id, user_ids) if user_ids else {}
    return form_view(limit, config.departments.values(), people.values())


def form_view(
    limit: AbsenceLimit | None, departments: Iterable[Department], people: Collection[User]
) -> View:
    """The form of a limit; None for a new one. ``people`` are those that it names."""
    blocks = [
        fields.field(
            "name",
            gettext("Name"),
            fields.text_input(
                limit.name if limit else None, placeholder=gettext("For example, Support team")
            ),
        ),
        fields.field(
            "department_id",
            gettext("For whom"),
            searches.department_select(
                departments, limit.department_id if limit else None, gettext("Everyone")
            ),
        ),
        _people(people),
        fields.field(
            "max_away",
            gettext("At most this many away"),
            fields.number_input(limit.max_away if limit else None, most=MAX_NUMBER),
            hint=gettext("0 for days on which no one may be away."),
            is_optional=True,
        ),
        fields.field(
            "min_present",
            gettext("Or at least this many at work"),
            fields.number_input(limit.min_present if limit else None, least=1, most=MAX_NUMBER),
            is_optional=True,
        ),
        fields.field(
            "from",
            gettext("From"),
            fields.date_picker(limit.first_day if limit else None),
            is_optional=True,
        ),
        fields.field(
            "to",
            gettext("To"),
            fields.date_picker(limit.last_day if limit else None),
            is_optional=True,
        ),
        fields.field(
            "enforcement",
            gettext("If a request exceeds it"),
            fields.radio_buttons(
                fields.translated(_ENFORCEMENTS), limit.enforcement if limit else "block"
            ),
        ),
        fields.field(
            "is_active",
            gettext("State"),
            fields.select(
                fields.translated(_STATES), "off" if limit and not limit.is_active else "active"
            ),
        ),
    ]
    if limit is None:
        return screen.form_view(f"{NAME}.form", gettext("Add an absence limit"), blocks)
    delete = layout.button(gettext("Delete"), f"{NAME}.delete", limit.id, "danger")
    delete["confirm"] = layout.confirm(
        gettext("Delete this absence limit?"),
        gettext("Leave that is booked stays as it is."),
        gettext("Delete"),
        gettext("Keep it"),
    )
    blocks.append(layout.actions(delete))
    return screen.form_view(f"{NAME}.form", gettext("Absence limit"), blocks, limit.id)


def _people(people: Collection[User]) -> Block:
    if len(people) > _MAX_PEOPLE:
        return layout.quiet(
            gettext("This limit names {count} people, who are set with the API.", count=len(people))
        )
    menu: Block = {
        "type": "multi_external_select",
        "action_id": _PERSON,
        "min_query_length": 0,
        "max_selected_items": _MAX_PEOPLE,
    }
    if people:
        chosen = [searches.person_option(person) for person in people]
        menu["initial_options"] = [fields.option(option) for option in chosen]
    return fields.field(
        "user_ids",
        gettext("Only for these people"),
        menu,
        hint=gettext("Leave empty for everyone, or for the whole department."),
        is_optional=True,
    )


def _values(form: Form) -> dict[str, object]:
    return {
        "name": form.text("name"),
        "department_id": form.chosen("department_id"),
        "user_ids": form.several("user_ids") or None,
        "first_day": form.day("from"),
        "last_day": form.day("to"),
        "max_away": form.whole("max_away"),
        "min_present": form.whole("min_present"),
        "enforcement": form.chosen("enforcement"),
        "is_active": form.chosen("is_active") == "active",
    }


def _save(tx: Transaction, saving: Saving) -> object:
    values = _values(saving.form)
    if not saving.form.about:
        return absence_limits.create(
            tx, values, by=saving.by, now=saving.now, recorder=saving.recorder
        )
    before = absence_limits.get(tx, saving.form.about, by=saving.by)
    if len(before.user_ids or ()) > _MAX_PEOPLE:
        del values["user_ids"]
    return absence_limits.update(
        tx, before.id, values, by=saving.by, now=saving.now, recorder=saving.recorder
    )


def register(app: AsyncApp) -> None:
    app.options(_PERSON)(searches.offer_people)
    app.action(NAME)(screen.opens(_read_list))
    app.action(f"{NAME}.more")(screen.shows_more(_read_list))
    app.action(f"{NAME}.new")(screen.opens(_read_form))
    app.action(f"{NAME}.edit")(screen.opens(_read_form))
    forms.register(app, f"{NAME}.form", screen.confirms(_save, _read_list))
    deleted = (gettext_noop("Absence limit"), gettext_noop("The absence limit was deleted."))
    app.action(f"{NAME}.delete")(screen.deletes(absence_limits.delete, _read_list, done=deleted))


SCREEN: Final = Screen(gettext_noop("Absence limits"), NAME, register)
