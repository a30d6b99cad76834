"""Settings: leave types."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, layout, words
from bot.blocks.fields import Option
from bot.interaction.interaction import Interaction
from bot.screens import forms, screen, searches
from bot.screens.forms import Form
from bot.screens.screen import Saving, Screen
from storage.admin import leave_type_changes
from storage.base.allowance_values import Allowance
from storage.base.errors import InvalidInput
from storage.base.leave_values import ADMINS, LeaveType, SecondApproval
from storage.base.values import Caller, User, local_day
from storage.db.database import Transaction
from storage.db.pages import Page
from storage.leave import leave_types
from storage.outbox import organisation_config
from storage.people import people_lists

NAME: Final = "settings.leave_types"
# The first is that of a new leave type; others are set over the API.
_COLOURS: Final = (
    Option(label=gettext_noop("Blue"), value="#4a7fb5"),
    Option(label=gettext_noop("Steel blue"), value="#3f7cac"),
    Option(label=gettext_noop("Turquoise"), value="#2a9d8f"),
    Option(label=gettext_noop("Green"), value="#2e9e6b"),
    Option(label=gettext_noop("Light green"), value="#9bbf3b"),
    Option(label=gettext_noop("Yellow"), value="#d9b310"),
    Option(label=gettext_noop("Orange"), value="#d9822b"),
    Option(label=gettext_noop("Red"), value="#d9534f"),
    Option(label=gettext_noop("Pink"), value="#d16ba5"),
    Option(label=gettext_noop("Purple"), value="#8e6bbf"),
    Option(label=gettext_noop("Brown"), value="#8d6e53"),
    Option(label=gettext_noop("Grey"), value="#7a869a"),
)
# The fields of a second approval, and what it is needed for.
_SECOND, _SECOND_DAYS, _SECOND_BY = (
    "second_approval",
    "second_approval_days",
    "second_approval_by",
)
_ALWAYS, _OVER_DAYS = "always", "over_days"
_DEDUCTS: Final = "deducts_allowance"
# All second names in the form, with their languages.
_MAX_NAMES: Final = 830
# The later allowances that a form lists.
_MAX_PLANNED: Final = 10
_ARCHIVED: Final = gettext_noop("Archived")
_FLAGS: Final = (
    Option(label=gettext_noop("Requires approval"), value="requires_approval"),
    Option(label=gettext_noop("Uses the allowance"), value=_DEDUCTS),
    Option(label=gettext_noop("Allowance can be overdrawn"), value="allow_overdraft"),
    Option(label=gettext_noop("Paid"), value="is_paid"),
    Option(label=gettext_noop("Requires a note"), value="requires_note"),
    Option(
        label=gettext_noop("Changes of approved leave need approval"),
        value="changes_need_approval",
    ),
    Option(label=gettext_noop("Approvers can record it"), value="approvers_may_record"),
    Option(label=gettext_noop("Requires a colleague to cover"), value="requires_cover"),
    Option(label=gettext_noop("Replaces leave when people fall ill"), value="may_interrupt"),
)
# Slack allows ten checkboxes in a field.
_SHOWN_TO_OTHERS: Final = (
    Option(
        label=gettext_noop("Counts as away (not for home office, business trips, training)"),
        value="is_away",
    ),
    Option(label=gettext_noop("Colleagues see only “Away”"), value="is_private"),
    Option(
        label=gettext_noop("Approvers are told of leave that needs no approval"),
        value="tells_approvers",
    ),
)
FLAGS: Final = tuple(flag.value for flag in (*_FLAGS, *_SHOWN_TO_OTHERS))


def read_list(tx: Transaction, interaction: Interaction, by: Caller, cursor: str) -> View:
    page = leave_types.page(tx, screen.page_of(cursor), by=by)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(interaction.now, config.organisation.timezone)
    of_today = [config.leave_type_as_of(each, today) for each in page.items]
    return list_view(replace(page, items=of_today), config.allowances)


def list_view(page: Page[LeaveType], allowances: Mapping[str, Allowance]) -> View:
    """All types, including archived ones, oldest first. ``allowances`` are by id."""
    blocks = [layout.actions(layout.button(gettext("Add a leave type"), f"{NAME}.new"))]
    for leave_type in page.items:
        removal = screen.removal(is_archived=leave_type.is_archived)
        options = [(gettext("Edit"), ids.MENU_EDIT), removal]
        menu = layout.menu(f"{NAME}.menu", options, leave_type.id)
        facts = _facts(leave_type, allowances.get(leave_type.allowance_id or ""))
        blocks.append({**layout.row(words.leave_type(leave_type), facts), "accessory": menu})
    return screen.list_view(NAME, gettext("Leave types"), blocks, page.next_cursor)


def _facts(leave_type: LeaveType, allowance: Allowance | None) -> list[str]:
    uses = gettext("Doesn't use the allowance")
    if leave_type.deducts_allowance:
        uses = gettext("Uses the allowance")
    if allowance is not None and not allowance.is_default:
        uses = gettext("Uses {allowance}", allowance=layout.name(words.allowance(allowance)))
    facts = [
        gettext("Needs approval") if leave_type.requires_approval else gettext("No approval"),
        uses,
    ]
    if not leave_type.is_away:
        facts.append(gettext("Counts as at work"))
    if leave_type.requires_approval and leave_type.second_approval is not None:
        facts.append(_second_fact(leave_type.second_approval))
    if leave_type.is_private:
        facts.append(gettext("Private"))
    if leave_type.is_archived:
        facts.append(gettext(_ARCHIVED))
    if words.leave_type(leave_type) != leave_type.name:
        facts.append(layout.name(leave_type.name))
    return [*facts, f"`{leave_type.code}`"]


def _second_fact(second: SecondApproval) -> str:
    if second.over_half_days is None:
        return gettext("Second approval")
    return gettext("Second approval over {amount}", amount=words.amount(second.over_half_days))


def _checkboxes(flags: Sequence[Option], ticked: Collection[str]) -> Block:
    chosen = [flag.value for flag in flags if flag.value in ticked]
    return fields.checkboxes(fields.translated(flags), chosen)


def _read_form(tx: Transaction, interaction: Interaction, by: Caller, leave_type_id: str) -> View:
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(interaction.now, config.organisation.timezone)
    leave_type = None
    drawn_on: str | None = config.default_allowance_id
    if leave_type_id:
        found = leave_types.get(tx, leave_type_id, by=by)
        leave_type = config.leave_type_as_of(found, today)
        drawn_on = leave_type.allowance_id
    offered = [
        allowance
        for allowance in config.allowances.values()
        if allowance.id == drawn_on or not allowance.is_archived
    ]
    planned = _planned(leave_type, config.allowances, today) if leave_type else []
    second = None if leave_type is None else leave_type.second_approval
    second_approver = people_lists.option(tx, None if second is None else second.user_id, by=by)
    return form_view(leave_type, offered, drawn_on, planned, second_approver)


def _planned(leave_type: LeaveType, allowances: Mapping[str, Allowance], today: date) -> list[str]:
    """The allowances that leave uses from later days on."""
    lines = []
    for use in leave_type.allowance_uses:
        if use.valid_from is None or use.valid_from <= today:
            continue
        allowance = allowances.get(use.allowance_id or "")
        day = words.plain_day(use.valid_from)
        lines.append(
            gettext("From {day}: no allowance", day=day)
            if allowance is None
            else gettext(
                "From {day}: {allowance}",
                day=day,
                allowance=layout.one_line(words.allowance(allowance)),
            )
        )
    return lines


def _from_when(planned: Sequence[str]) -> list[Block]:
    """The day from which leave uses another allowance, after what is planned already."""
    blocks = [layout.paragraph("\n".join(planned[:_MAX_PLANNED]))] if planned else []
    hint = gettext(
        "From when leave of this type uses another allowance. Leave empty for today. Leave that "
        "begins earlier stays as it is."
    )
    day = fields.date_picker()
    return [
        *blocks,
        fields.field("effective_from", gettext("From"), day, hint=hint, is_optional=True),
    ]


def _allowance_field(offered: Sequence[Allowance], drawn_on: str | None) -> list[Block]:
    """The choice of an allowance; none where there is only one, which has a checkbox."""
    if len(offered) < 2:
        return []
    by_name = sorted(offered, key=lambda each: (not each.is_default, each.name.casefold()))
    options = [
        Option(label=gettext("None"), value=ids.NOTHING),
        *(Option(label=words.allowance(allowance), value=allowance.id) for allowance in by_name),
    ]
    chosen = fields.select(options, drawn_on or ids.NOTHING)
    return [fields.field("allowance_id", gettext("Allowance that it uses"), chosen)]


def _name_fields(leave_type: LeaveType | None) -> list[Block]:
    hint = ""
    if leave_type is not None and words.leave_type(leave_type) != leave_type.name:
        hint = gettext("Shown to you as “{name}”.", name=words.leave_type(leave_type))
    names = leave_type.names if leave_type else {}
    lines = "\n".join(f"{language}: {name}" for language, name in names.items())
    text = fields.text_input(lines, _MAX_NAMES, placeholder="de: Sonderurlaub")
    return [
        fields.field(
            "name",
            gettext("Name"),
            fields.text_input(leave_type.name if leave_type else None),
            hint=hint,
        ),
        fields.field(
            "names",
            gettext("Names in other languages"),
            text | {"multiline": True},
            hint=gettext(
                "A line for each language: its code (de, en, es or fr), a colon, and the name. "
                "People who use Slack in this language read it."
            ),
            is_optional=True,
        ),
    ]


def _names_in(typed: str) -> dict[str, str]:
    """The typed names by language, checked later. Raises InvalidInput ``repeated_field``."""
    names: dict[str, str] = {}
    for line in typed.splitlines():
        if not line.strip():
            continue
        language, _, name = (part.strip() for part in line.partition(":"))
        if language.lower() in names:
            raise InvalidInput.of(
                "names",
                "repeated_field",
                gettext_noop("There are several names for “{language}”."),
                language=language,
            )
        names[language.lower()] = name
    return names


def _second_approval_fields(
    leave_type: LeaveType | None, second_approver: User | None
) -> list[Block]:
    second = None if leave_type is None else leave_type.second_approval
    options = [
        Option(label=gettext("Not needed"), value=ids.NOTHING),
        Option(label=gettext("For all leave"), value=_ALWAYS),
        Option(label=gettext("For leave over a number of days"), value=_OVER_DAYS),
    ]
    chosen = ids.NOTHING if second is None else _ALWAYS if second.always else _OVER_DAYS
    days = fields.days_input(second.over_half_days if second else None)
    return [
        fields.field(_SECOND, gettext("Second approval"), fields.select(options, chosen)),
        fields.field(_SECOND_DAYS, gettext("Second approval over (days)"), days, is_optional=True),
        fields.field(
            _SECOND_BY,
            gettext("Second approval by"),
            searches.person_select(second_approver),
            hint=gettext("Leave empty for any other admin."),
            is_optional=True,
        ),
    ]


def _colour_select(colour: str) -> Block:
    """The named colours, and before them the present one if it has no name."""
    named = fields.translated(_COLOURS)
    if colour not in {each.value for each in named}:
        own = Option(label=gettext("Own colour ({colour})", colour=colour), value=colour)
        named = [own, *named]
    return fields.select(named, colour)


def _second_approval(form: Form) -> dict[str, object]:
    """The chosen second approval; nothing from a form of an older version."""
    kind = form.text(_SECOND)
    if kind is None:
        return {}
    if kind == ids.NOTHING:
        return {"second_approval": None}
    by = form.chosen(_SECOND_BY) or ADMINS
    if kind == _ALWAYS:
        return {"second_approval": {"always": True, "by": by}}
    return {"second_approval": {"over_days": form.number(_SECOND_DAYS), "by": by}}


def form_view(
    leave_type: LeaveType | None,
    offered: Sequence[Allowance] = (),
    drawn_on: str | None = None,
    planned: Sequence[str] = (),
    second_approver: User | None = None,
) -> View:
    """The form of a leave type; ``leave_type`` is None for a new one.

    ``offered`` are the allowances that it can use, ``drawn_on`` is the id of the one it uses.
    ``planned`` says which it uses from later days on, ``second_approver`` is the person who gives
    second approvals.
    """
    allowance_field = _allowance_field(offered, drawn_on)
    flags = [flag for flag in _FLAGS if not (allowance_field and flag.value == _DEDUCTS)]
    ticked = (
        ["requires_approval", "deducts_allowance", "is_paid", "is_away", "tells_approvers"]
        if leave_type is None
        else [flag for flag in FLAGS if getattr(leave_type, flag)]
    )
    blocks = [
        *_name_fields(leave_type),
        fields.code_field(leave_type.code if leave_type else None),
        fields.field(
            "colour",
            gettext("Colour in calendars"),
            _colour_select(leave_type.colour if leave_type else _COLOURS[0].value),
        ),
        fields.field(
            "emoji",
            gettext("Emoji"),
            fields.text_input(
                leave_type.emoji if leave_type else None, 100, placeholder="palm_tree"
            ),
            is_optional=True,
        ),
        fields.field(
            "flags",
            gettext("Rules"),
            _checkboxes(flags, ticked),
            is_optional=True,
        ),
        *_second_approval_fields(leave_type, second_approver),
        *allowance_field,
        *([] if leave_type is None else _from_when(planned)),
        fields.field(
            "shown_to_others",
            gettext("What others learn"),
            _checkboxes(_SHOWN_TO_OTHERS, ticked),
            is_optional=True,
        ),
        fields.field(
            "min_notice_days",
            gettext("Notice (days)"),
            fields.number_input(leave_type.min_notice_days if leave_type else 0, most=730),
        ),
        fields.field(
            "max_consecutive_days",
            gettext("Maximum days in a row"),
            fields.number_input(
                leave_type.max_consecutive_days if leave_type else None, least=1, most=366
            ),
            hint=gettext("Leave empty for no limit."),
            is_optional=True,
        ),
    ]
    title = gettext("Leave type") if leave_type else gettext("Add a leave type")
    return screen.form_view(f"{NAME}.form", title, blocks, leave_type.id if leave_type else "")


def _save(tx: Transaction, saving: Saving) -> object:
    ticked = {*saving.form.several("flags"), *saving.form.several("shown_to_others")}
    code = saving.form.text("code")
    values: dict[str, object] = {
        "name": saving.form.text("name") or "",
        **(
            {"names": _names_in(saving.form.text("names") or "")}
            if saving.form.has("names")
            else {}
        ),
        **({"code": code} if code else {}),
        "colour": saving.form.chosen("colour") or "",
        "emoji": saving.form.text("emoji"),
        "min_notice_days": saving.form.whole("min_notice_days"),
        "max_consecutive_days": saving.form.whole("max_consecutive_days"),
        **{flag: flag in ticked for flag in FLAGS},
        **_second_approval(saving.form),
    }
    if saving.form.text("allowance_id") is not None:
        del values[_DEDUCTS]
        values["allowance_id"] = saving.form.chosen("allowance_id")
    if not saving.form.about:
        return leave_types.create(tx, values, by=saving.by, now=saving.now)
    return leave_type_changes.update(
        tx,
        saving.form.about,
        values,
        effective_from=saving.form.day("effective_from"),
        by=saving.by,
        now=saving.now,
        recorder=saving.recorder,
    )


def _ask_archiving(
    tx: Transaction, interaction: Interaction, by: Caller, leave_type_id: str
) -> View:
    return archiving_view(leave_types.get(tx, leave_type_id, by=by))


def archiving_view(leave_type: LeaveType) -> View:
    sentence = gettext(
        "People can no longer request {name}. Existing requests stay. A type that was never used "
        "is deleted.",
        name=layout.cut(words.leave_type(leave_type), layout.MAX_NAME),
    )
    return screen.archiving_view(NAME, gettext("Archive a leave type"), sentence, leave_type.id)


def _archive(tx: Transaction, saving: Saving) -> object:
    """Archive the leave type, or delete it if it was never used."""
    return leave_types.delete(tx, saving.form.about, by=saving.by, now=saving.now)


def register(app: AsyncApp) -> None:
    app.action(NAME)(screen.opens(read_list))
    app.action(f"{NAME}.more")(screen.shows_more(read_list))
    app.action(f"{NAME}.new")(screen.opens(_read_form))
    app.action(f"{NAME}.menu")(
        screen.chooses(
            {
                ids.MENU_EDIT: screen.opens(_read_form),
                ids.MENU_ARCHIVE: screen.opens(_ask_archiving),
                ids.MENU_RESTORE: screen.restores(leave_types.update, read_list),
            }
        )
    )
    forms.register(app, f"{NAME}.form", screen.confirms(_save, read_list))
    app.view(f"{NAME}.archive.form")(screen.saves(_archive, read_list))


SCREEN: Final = Screen(gettext_noop("Leave types"), NAME, register)
