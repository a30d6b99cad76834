"""The values of the request form, and alerts about why it cannot be sent yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Final

from bot.base import ids
from bot.base.block_kit import Block
from bot.base.language import gettext
from bot.base.payloads import Action, ShownView, Values
from bot.blocks import fields, layout
from bot.blocks.layout import AlertLevel
from bot.parsing.typed_leave import ParsedLeave
from bot.parsing.typed_ranges import Span
from storage.base.errors import FieldError, InvalidInput
from storage.base.leave_values import LeaveRequest
from storage.leave.drafts import Draft
from storage.rules import counted_days

FIELDS: Final = (
    ids.LEAVE_TYPE,
    ids.FIRST_DAY,
    ids.LAST_DAY,
    ids.BEGINS,
    ids.ENDS,
    ids.PART_OF_DAY,
    ids.FAR_AHEAD,
    ids.COVER,
    ids.NOTE,
)


# Why the form cannot be sent, by the field at fault: one of those with an alert, or all of them.
Problems = Mapping[str, Sequence[str]]
WITH_ALERT: Final = (ids.LEAVE_TYPE, ids.FIRST_DAY, ids.LAST_DAY)
WHOLE: Final = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Filled:
    """The form's values. None if nothing was chosen yet.

    ``last_day_moves`` is how often the last day was set by the form itself. ``ticked`` is the block
    that was ticked to confirm an unusual first day, which may be an earlier one.
    """

    leave_type_id: str | None
    start_date: date | None
    end_date: date | None
    begins_at_midday: bool = False
    ends_at_midday: bool = False
    note: str | None = None
    cover_user_id: str | None = None
    last_day_moves: int = field(default=0, compare=False)
    ticked: str | None = field(default=None, compare=False)

    @property
    def far_ahead_block(self) -> str:
        """The block that confirms this first day and leave type."""
        return f"{ids.FAR_AHEAD}{fields.RESET}{self.leave_type_id}.{self.start_date}"

    @property
    def is_confirmed(self) -> bool:
        return self.ticked == self.far_ahead_block

    @property
    def is_one_day(self) -> bool:
        return self.start_date is not None and self.start_date == self.end_date

    @property
    def last_day_block(self) -> str:
        moves = self.last_day_moves
        return f"{ids.LAST_DAY}{fields.RESET}{moves}" if moves else ids.LAST_DAY

    @classmethod
    def with_request(cls, request: LeaveRequest) -> Filled:
        span = counted_days.span_of(request)
        return cls(
            leave_type_id=request.leave_type_id,
            start_date=request.start_date,
            end_date=request.end_date,
            begins_at_midday=span.first_slot % 2 == 1,
            ends_at_midday=span.last_slot % 2 == 0,
            note=request.note,
            cover_user_id=request.cover_user_id,
        )

    @classmethod
    def of_typed(
        cls, days: ParsedLeave | Span, leave_type_id: str | None, note: str | None
    ) -> Filled:
        """The values of typed days."""
        return cls(
            leave_type_id=leave_type_id,
            start_date=days.start_date,
            end_date=days.end_date,
            begins_at_midday=days.start_half_day == "pm",
            ends_at_midday=days.end_half_day == "am",
            note=note,
        )

    @classmethod
    def of_draft(cls, draft: Draft) -> Filled:
        """The values of a draft whose dates and halves are possible."""
        span = counted_days.Span(
            start_date=draft.start_date,
            end_date=draft.end_date,
            start_half_day=draft.start_half_day,
            end_half_day=draft.end_half_day,
        )
        return cls(
            leave_type_id=draft.leave_type_id,
            start_date=draft.start_date,
            end_date=draft.end_date,
            begins_at_midday=span.first_slot % 2 == 1,
            ends_at_midday=span.last_slot % 2 == 0,
            note=draft.note,
            cover_user_id=draft.cover_user_id,
        )

    def draft(self) -> Draft | None:
        """None while a required value is missing."""
        if self.leave_type_id is None or self.start_date is None or self.end_date is None:
            return None
        return Draft(
            leave_type_id=self.leave_type_id,
            start_date=self.start_date,
            end_date=self.end_date,
            start_half_day="pm" if self.begins_at_midday else None,
            end_half_day="am" if self.ends_at_midday else None,
            note=self.note,
            cover_user_id=self.cover_user_id,
        )


def filled_of(values: Values) -> Filled:
    """The values in a view's ``state.values``."""
    cover = fields.value_of(values, ids.COVER)
    start_date = fields.date_of(values, ids.FIRST_DAY)
    end_date = fields.date_of(values, ids.LAST_DAY)
    part = fields.value_of(values, ids.PART_OF_DAY)
    begins_at_midday = fields.value_of(values, ids.BEGINS) == ids.MIDDAY
    ends_at_midday = fields.value_of(values, ids.ENDS) == ids.MIDDAY
    if part is not None:
        begins_at_midday = part == ids.AFTERNOON
        # A morning becomes the whole first day once the leave has more days.
        ends_at_midday = part == ids.MORNING and start_date == end_date
    return Filled(
        leave_type_id=fields.value_of(values, ids.LEAVE_TYPE),
        start_date=start_date,
        end_date=end_date,
        begins_at_midday=begins_at_midday,
        ends_at_midday=ends_at_midday,
        note=fields.value_of(values, ids.NOTE),
        cover_user_id=None if cover == ids.NOTHING else cover,
        last_day_moves=_last_day_moves(values),
        ticked=next(
            (
                block_id
                for block_id in values
                if fields.field_of(block_id) == ids.FAR_AHEAD
                and fields.values_of({block_id: values[block_id]}, ids.FAR_AHEAD)
            ),
            None,
        ),
    )


def _last_day_moves(values: Values) -> int:
    for block_id in values:
        if fields.field_of(block_id) == ids.LAST_DAY:
            moves = block_id.removeprefix(ids.LAST_DAY + fields.RESET)
            return int(moves) if moves.isdecimal() else 0
    return 0


def with_selection(values: Values, action: Action) -> Values:
    """The values of a view with what was just picked in it.

    Slack may send a selection with the state of a later view, in which the block has another id.
    """
    field = fields.field_of(action.get("block_id", ""))
    block_id = next((each for each in values if fields.field_of(each) == field), None)
    return values if block_id is None else {**values, block_id: {action["action_id"]: action}}


def after_selection(view: ShownView, action: Action) -> Filled:
    """The values to show after a selection in a view.

    The last day follows a first day that is later, unless it was picked itself since the view was
    rendered. A single day has no two halves at midday.
    """
    values = view["state"]["values"]
    selected = action.get("block_id", "")
    filled = filled_of(with_selection(values, action))
    if fields.field_of(selected) == ids.LAST_DAY and selected not in values:
        # The block with another id keeps its day, so this one gets a new id.
        filled = replace(filled, last_day_moves=filled.last_day_moves + 1)
    first, last = filled.start_date, filled.end_date
    shown_first, shown_last = shown_days(view)
    is_followed = selected == ids.FIRST_DAY or (first != shown_first and last == shown_last)
    if is_followed and first is not None and last is not None and last < first:
        filled = replace(filled, end_date=first, last_day_moves=filled.last_day_moves + 1)
    if filled.is_one_day and filled.begins_at_midday and filled.ends_at_midday:
        filled = replace(filled, begins_at_midday=False, ends_at_midday=False)
    return filled


def packed(filled: Filled) -> str:
    """Type, days, halves and note, for the value of a button. Typed notes are short."""
    return "|".join(
        (
            filled.leave_type_id or "",
            "" if filled.start_date is None else filled.start_date.isoformat(),
            "" if filled.end_date is None else filled.end_date.isoformat(),
            ids.MIDDAY if filled.begins_at_midday else "",
            ids.MIDDAY if filled.ends_at_midday else "",
            filled.note or "",
        )
    )


def unpacked(value: str) -> Filled:
    """The values of ``packed``; no values for what another version packed."""
    try:
        leave_type_id, first, last, begins, ends, note = value.split("|", 5)
        return Filled(
            leave_type_id=leave_type_id or None,
            start_date=date.fromisoformat(first) if first else None,
            end_date=date.fromisoformat(last) if last else None,
            begins_at_midday=begins == ids.MIDDAY,
            ends_at_midday=ends == ids.MIDDAY,
            note=note or None,
        )
    except ValueError:
        return Filled(leave_type_id=None, start_date=None, end_date=None)


def shown_days(view: ShownView) -> tuple[date | None, date | None]:
    """The first and the last day that a form shows.

    With a search, Slack sends no state of the form (github.com/slackapi/bolt-js/issues/1146). But
    every selection renders the form again, with the days as initial ones.
    """
    return _shown_day(view, ids.FIRST_DAY), _shown_day(view, ids.LAST_DAY)


def _shown_day(view: ShownView, block_id: str) -> date | None:
    for block in view.get("blocks", ()):
        shown = block.get("element", {}).get("initial_date")
        if fields.field_of(block.get("block_id", "")) == block_id and shown:
            return date.fromisoformat(shown)
    return None


def draft_of(filled: Filled) -> Draft:
    """Raises InvalidInput ``required``, which Slack's clients prevent."""
    draft = filled.draft()
    if draft is None:
        required = {
            ids.LEAVE_TYPE: filled.leave_type_id,
            ids.FIRST_DAY: filled.start_date,
            ids.LAST_DAY: filled.end_date,
        }
        raise InvalidInput(
            [
                FieldError(pointer=f"/{name}", code="required", detail=gettext("Choose one."))
                for name, value in required.items()
                if value is None
            ]
        )
    return draft


_MAX_PROBLEMS: Final = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Alerts:
    """``problems`` by field; ``is_sent``: Send was pressed in spite of them."""

    problems: Problems
    is_sent: bool = False

    def at(self, field: str) -> list[Block]:
        """The alerts below a field, or of the whole form."""
        level: AlertLevel = "error" if self.is_sent else "warning"
        problems = self.problems.get(field, ())[:_MAX_PROBLEMS]
        return [
            layout.alert(problem, f"{ids.ALERT}{field}.{index}", level)
            for index, problem in enumerate(problems)
        ]


NO_ALERTS: Final = Alerts(problems={})


def shown_alerts(view: ShownView) -> set[str]:
    """The sentences in the alerts of a form."""
    return {
        block.get("text", {}).get("text", "")
        for block in view.get("blocks", ())
        if block.get("block_id", "").startswith(ids.ALERT)
    }
