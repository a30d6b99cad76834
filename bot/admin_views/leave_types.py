"""Admin settings: leave types."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, layout, text
from bot.blocks.fields import Option
from storage.base.values import LeaveType
from storage.db.pages import Page

# The default for a new leave type.
_COLOUR: Final = "#4a7fb5"
_ARCHIVED: Final = gettext_noop("Archived")
_FLAGS: Final = (
    Option(label=gettext_noop("Requires approval"), value="requires_approval"),
    Option(label=gettext_noop("Uses the allowance"), value="deducts_allowance"),
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
    Option(label=gettext_noop("Colleagues see only “Away”"), value="is_private"),
    Option(
        label=gettext_noop("Approvers are told of leave that needs no approval"),
        value="tells_approvers",
    ),
)
FLAGS: Final = tuple(flag.value for flag in (*_FLAGS, *_SHOWN_TO_OTHERS))


def leave_types(page: Page[LeaveType]) -> View:
    """All types, including archived ones, oldest first."""
    blocks = [layout.actions(layout.button(gettext("Add a leave type"), ids.LEAVE_TYPE_NEW))]
    for leave_type in page.items:
        removal = (
            (gettext("Restore"), ids.MENU_RESTORE)
            if leave_type.is_archived
            else (gettext("Archive…"), ids.MENU_ARCHIVE)
        )
        options = [(gettext("Edit"), ids.MENU_EDIT), removal]
        menu = layout.menu(ids.LEAVE_TYPE_MENU, options, leave_type.id)
        blocks.append({**layout.row(leave_type.name, _facts(leave_type)), "accessory": menu})
    return layout.modal(
        gettext("Leave types"), blocks + layout.show_more(ids.LEAVE_TYPES_MORE, page.next_cursor)
    )


def _facts(leave_type: LeaveType) -> list[str]:
    facts = [
        gettext("Needs approval") if leave_type.requires_approval else gettext("No approval"),
        gettext("Uses the allowance")
        if leave_type.deducts_allowance
        else gettext("Doesn't use the allowance"),
    ]
    if leave_type.is_private:
        facts.append(gettext("Private"))
    if leave_type.is_archived:
        facts.append(gettext(_ARCHIVED))
    return [*facts, f"`{leave_type.code}`"]


def _checkboxes(flags: Sequence[Option], ticked: Collection[str]) -> Block:
    chosen = [flag.value for flag in flags if flag.value in ticked]
    return fields.checkboxes(fields.translated(flags), chosen)


def leave_type(leave_type: LeaveType | None) -> View:
    """The form of a leave type; ``leave_type`` is None for a new one."""
    ticked = (
        ["requires_approval", "deducts_allowance", "is_paid", "tells_approvers"]
        if leave_type is None
        else [flag for flag in FLAGS if getattr(leave_type, flag)]
    )
    blocks = [
        fields.field(
            "name", gettext("Name"), fields.text_input(leave_type.name if leave_type else None)
        ),
        fields.field(
            "code",
            gettext("Code"),
            fields.text_input(leave_type.code if leave_type else None, 64),
            hint=(
                gettext("A short name for integrations. Leave empty to create one from the name.")
                if leave_type is None
                else gettext("A short name for integrations.")
            ),
            is_optional=leave_type is None,
        ),
        fields.field(
            "colour",
            gettext("Colour in calendars"),
            fields.text_input(leave_type.colour if leave_type else _COLOUR, 7),
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
            _checkboxes(_FLAGS, ticked),
            is_optional=True,
        ),
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
    if leave_type is None:
        return layout.modal(
            gettext("Add a leave type"),
            blocks,
            ids.LEAVE_TYPE_FORM,
            gettext("Add"),
            gettext("Back"),
        )
    return layout.modal(
        gettext("Leave type"),
        blocks,
        ids.LEAVE_TYPE_FORM,
        gettext("Save"),
        gettext("Back"),
        leave_type.id,
    )


def archiving(leave_type: LeaveType) -> View:
    """Asks to confirm that a type is archived."""
    sentence = gettext(
        "People can no longer request {name}. Existing requests stay. A type that was never used "
        "is deleted.",
        name=text.cut(leave_type.name, text.MAX_NAME),
    )
    return layout.modal(
        gettext("Archive a leave type"),
        [text.paragraph(sentence)],
        ids.LEAVE_TYPE_ARCHIVE_FORM,
        gettext("Archive"),
        gettext("Keep it"),
        leave_type.id,
    )
