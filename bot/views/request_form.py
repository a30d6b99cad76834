"""The request form, and the form of a person who fell ill on leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, layout, words
from bot.blocks.fields import Option
from bot.views.request_values import NO_ALERTS, WHOLE, Alerts, Filled
from storage.base.leave_values import LeaveRequest, LeaveType
from storage.base.values import User
from storage.leave.covers import Candidates
from storage.leave.drafts import MAX_NOTE_LENGTH

_MAX_TYPES: Final = 1_000


def view(
    leave_types: Iterable[LeaveType],
    filled: Filled,
    live: Sequence[Block],
    asides: Sequence[Block] = (),
    *,
    alerts: Alerts = NO_ALERTS,
    edited: LeaveRequest | None = None,
    cover: User | None = None,
    is_far_ahead: bool = False,
    is_at_cover: bool = False,
) -> View:
    """The modal: ``asides`` at the top, ``alerts`` at the fields, ``live`` under the dates.

    It edits the request ``edited``. The leave type of a pending one cannot be changed. ``cover`` is
    the colleague who is chosen. ``is_far_ahead``: the first day has to be confirmed.
    ``is_at_cover``: Slack opens the form at the cover.
    """
    title, submit = gettext("Request leave"), gettext("Send")
    if edited is not None:
        is_pending = edited.status == "pending"
        title = gettext("Edit request") if is_pending else gettext("Change leave")
        submit = gettext("Save")
    return {
        "type": "modal",
        "callback_id": ids.REQUEST_FORM if edited is None else ids.EDIT_FORM,
        "private_metadata": "" if edited is None else edited.id,
        "title": layout.plain(title, layout.MAX_TITLE),
        "submit": layout.plain(submit),
        "close": layout.plain(gettext("Cancel")),
        "blocks": [
            *asides,
            *blocks(
                _offered(leave_types, edited),
                filled,
                [*live, _confirmation(filled)] if is_far_ahead else live,
                alerts=alerts,
                cover=cover,
                is_type_fixed=edited is not None and edited.status == "pending",
                is_at_cover=is_at_cover,
            ),
        ],
    }


def blocks(
    leave_types: Iterable[LeaveType],
    filled: Filled,
    live: Sequence[Block],
    *,
    alerts: Alerts,
    cover: User | None,
    is_type_fixed: bool = False,
    is_at_cover: bool = False,
    is_own: bool = True,
    recount_id: str = ids.RECOUNT,
    cover_search_id: str = ids.COVER_SEARCH,
) -> list[Block]:
    """The form's fields; ``recount_id`` is the action of a selection.

    ``is_own``: it is the reader's own leave.
    """
    types = list(leave_types)
    field = partial(_field, recount_id)
    return [
        _fixed_type(types, filled)
        if is_type_fixed
        else field(ids.LEAVE_TYPE, gettext("Leave type"), _type_menu(types, filled.leave_type_id)),
        *alerts.at(ids.LEAVE_TYPE),
        *day_fields(filled, alerts, is_own=is_own, recount_id=recount_id),
        *live,
        field(
            ids.COVER,
            gettext("Covered by"),
            _cover_menu(cover, cover_search_id, is_focused=is_at_cover),
            hint=gettext("They're told your dates, not the leave type or the note.")
            if is_own
            else gettext("The cover is told the dates, not the leave type or the note."),
            is_optional=not _is_cover_required(types, filled),
        ),
        field(ids.NOTE, gettext("Note"), note(filled.note, is_own), is_optional=True),
    ]


def day_fields(filled: Filled, alerts: Alerts, *, is_own: bool, recount_id: str) -> list[Block]:
    """The days and halves, with the alerts about them and about the whole form."""
    field = partial(_field, recount_id)
    return [
        field(ids.FIRST_DAY, gettext("First day"), fields.date_picker(filled.start_date)),
        *alerts.at(ids.FIRST_DAY),
        field(
            filled.last_day_block,
            gettext("Last day"),
            fields.date_picker(filled.end_date),
            hint=gettext("Your last day off, not the day you're back.")
            if is_own
            else gettext("Their last day off, not the day they're back."),
        ),
        *alerts.at(ids.LAST_DAY),
        *_halves_fields(field, filled),
        *alerts.at(WHOLE),
    ]


def _confirmation(filled: Filled) -> Block:
    """A box to tick, empty for each other first day and leave type."""
    day = "" if filled.start_date is None else words.day(filled.start_date)
    box = Option(label=gettext("Yes, this leave starts on {day}", day=day), value=ids.FAR_AHEAD)
    ticked = [ids.FAR_AHEAD] if filled.is_confirmed else []
    return fields.field(
        filled.far_ahead_block, gettext("Please confirm"), fields.checkboxes([box], ticked)
    )


def _halves_fields(field: Callable[[str, str, Block], Block], filled: Filled) -> list[Block]:
    """The part of a single day, or the halves at both ends; nothing while a day is missing."""
    if filled.start_date is None or filled.end_date is None:
        return []
    if filled.is_one_day:
        part = fields.radio_buttons(fields.translated(_PARTS_OF_DAY), _part_of_day(filled))
        return [field(ids.PART_OF_DAY, gettext("Part of the day"), part)]
    return [
        field(ids.BEGINS, gettext("Starts"), halves(BEGINS, filled.begins_at_midday)),
        field(ids.ENDS, gettext("Ends"), halves(ENDS, filled.ends_at_midday)),
    ]


def _part_of_day(filled: Filled) -> str:
    if filled.begins_at_midday:
        return ids.AFTERNOON
    return ids.MORNING if filled.ends_at_midday else ids.WHOLE_DAY


_PARTS_OF_DAY: Final = (
    Option(label=gettext_noop("All day"), value=ids.WHOLE_DAY),
    Option(label=gettext_noop("Morning"), value=ids.MORNING),
    Option(label=gettext_noop("Afternoon"), value=ids.AFTERNOON),
)
BEGINS: Final = (
    gettext_noop("At the start of the first day"),
    gettext_noop("At midday on the first day"),
)
ENDS: Final = (
    gettext_noop("At the end of the last day"),
    gettext_noop("At midday on the last day"),
)


def requestable(leave_types: Iterable[LeaveType]) -> list[LeaveType]:
    """The types that can be requested, by name."""
    return sorted(
        (leave_type for leave_type in leave_types if not leave_type.is_archived),
        key=lambda leave_type: (words.leave_type(leave_type).casefold(), leave_type.id),
    )[:_MAX_TYPES]


def _field(
    recount_id: str,
    block_id: str,
    label: str,
    element: Block,
    *,
    hint: str = "",
    is_optional: bool = False,
) -> Block:
    # Selections refresh the total at once; typed text does not.
    is_picked = element["type"] != "plain_text_input"
    action_id = recount_id if is_picked else ids.ANSWER
    block = fields.field(
        block_id, label, {"action_id": action_id, **element}, hint=hint, is_optional=is_optional
    )
    return block | {"dispatch_action": is_picked}


def _cover_menu(cover: User | None, search_id: str, *, is_focused: bool) -> Block:
    chosen = None if cover is None else _person_option(cover)
    menu = fields.external_select(search_id, chosen, gettext("Choose a colleague"))
    return menu | {"focus_on_load": True} if is_focused else menu


def _is_cover_required(types: Sequence[LeaveType], filled: Filled) -> bool:
    return any(
        leave_type.requires_cover for leave_type in types if leave_type.id == filled.leave_type_id
    )


def cover_options(candidates: Candidates, *, with_no_one: bool) -> list[Block]:
    """The response to a search for a cover: groups, which must not be empty."""
    counts = Counter(user.name for user in (*candidates.there, *candidates.off))
    there, off = (
        [_person_option(user, with_email=counts[user.name] > 1) for user in users]
        for users in (candidates.there, candidates.off)
    )
    groups = [
        (gettext("No cover"), [Option(label=gettext("No one"), value=ids.NOTHING)] * with_no_one),
        (gettext("Available on these days"), there),
        (gettext("Off on some of these days"), off),
    ]
    return [
        {"label": layout.plain(label), "options": [fields.option(option) for option in options]}
        for label, options in groups
        if options
    ]


def _person_option(user: User, *, with_email: bool = False) -> Option:
    label = f"{layout.cut(user.name, 40)} ({user.email})" if with_email else user.name or user.email
    return Option(label=label, value=user.id)


def _offered(leave_types: Iterable[LeaveType], edited: LeaveRequest | None) -> list[LeaveType]:
    """Changed leave may keep a type that is no longer in use."""
    return [
        replace(leave_type, is_archived=False)
        if edited is not None and leave_type.id == edited.leave_type_id
        else leave_type
        for leave_type in leave_types
    ]


def _fixed_type(types: Sequence[LeaveType], filled: Filled) -> Block:
    name = next(
        (
            words.leave_type(leave_type)
            for leave_type in types
            if leave_type.id == filled.leave_type_id
        ),
        "",
    )
    return layout.section(f"*{layout.name(name)}*")


def _type_menu(leave_types: Iterable[LeaveType], chosen_id: str | None) -> Block:
    types = requestable(leave_types)
    options = [Option(label=_label(leave_type), value=leave_type.id) for leave_type in types]
    chosen = types[0].id if len(types) == 1 else chosen_id
    return fields.select(options, chosen, gettext("Choose a type"))


def _label(leave_type: LeaveType) -> str:
    emoji = f":{leave_type.emoji}: " if leave_type.emoji and len(leave_type.emoji) < 50 else ""
    return emoji + words.leave_type(leave_type)


def halves(labels: tuple[str, str], at_midday: bool) -> Block:
    values = (ids.WHOLE_DAY, ids.MIDDAY)
    options = [
        Option(label=gettext(label), value=value)
        for label, value in zip(labels, values, strict=True)
    ]
    return fields.select(options, values[at_midday])


def note(typed: str | None, is_own: bool) -> Block:
    readers = (
        gettext("Visible to your approver")
        if is_own
        else gettext("Visible to them and to approvers")
    )
    field: Block = {
        "type": "plain_text_input",
        "multiline": True,
        "max_length": MAX_NOTE_LENGTH,
        "placeholder": layout.plain(readers),
    }
    return field | {"initial_value": typed} if typed else field


def interruption_view(
    request: LeaveRequest, leave_type: LeaveType, offered: Sequence[LeaveType], filled: Filled
) -> View:
    """The modal about the leave ``request``. ``offered`` are the types that can replace it."""
    when = words.dates(request)
    intro = gettext("Which days of this leave were you ill? You get them back.")
    return layout.modal(
        gettext("I fell ill"),
        [
            layout.section(f"*{layout.name(words.leave_type(leave_type))}*, {when}\n{intro}"),
            *_replacing_type(offered, filled),
            fields.field(
                ids.FIRST_DAY, gettext("First day"), fields.date_picker(filled.start_date)
            ),
            fields.field(
                ids.BEGINS,
                gettext("Starts"),
                halves(BEGINS, filled.begins_at_midday),
            ),
            fields.field(ids.LAST_DAY, gettext("Last day"), fields.date_picker(filled.end_date)),
            fields.field(
                ids.ENDS,
                gettext("Ends"),
                halves(ENDS, filled.ends_at_midday),
            ),
            fields.field(ids.NOTE, gettext("Note"), note(filled.note, True), is_optional=True),
        ],
        ids.INTERRUPTION_FORM,
        gettext("Save"),
        gettext("Cancel"),
        request.id,
    )


def _replacing_type(offered: Sequence[LeaveType], filled: Filled) -> list[Block]:
    options = [
        Option(label=words.leave_type(leave_type), value=leave_type.id) for leave_type in offered
    ]
    chosen = filled.leave_type_id or offered[0].id
    menu = fields.select(options, chosen, gettext("Choose a type"))
    return [fields.field(ids.LEAVE_TYPE, gettext("Leave type"), menu)]
