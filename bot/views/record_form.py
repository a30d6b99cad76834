"""The form that records leave for another person: the request form with a person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext
from bot.base.payloads import ShownView, Values
from bot.blocks import fields, layout, words
from bot.blocks.fields import Option
from bot.message_views import cards
from bot.views import request_form, request_values
from bot.views.request_values import Alerts, Filled
from storage.base.leave_values import LeaveType
from storage.base.values import User
from storage.notifications.approval_cards import ApprovalCard
from storage.rules.request_rules import MAX_REASON_LENGTH


@dataclass(frozen=True, kw_only=True, slots=True)
class Entered:
    """The form's values. ``user_id`` is None if no person was chosen yet."""

    filled: Filled
    user_id: str | None = None
    override_reason: str | None = None

    @classmethod
    def of(cls, values: Values) -> Entered:
        """The values in a view's ``state.values``."""
        return cls(
            filled=request_values.filled_of(values),
            user_id=fields.value_of(values, ids.PERSON),
            override_reason=fields.value_of(values, ids.EXCEPTION_REASON),
        )


def shown_person(view: ShownView) -> str | None:
    """The id of the person that a form shows; with a search, Slack sends no state of the form."""
    for block in view.get("blocks", ()):
        if block.get("block_id") == ids.PERSON:
            chosen = block.get("element", {}).get("initial_option")
            return None if chosen is None else chosen["value"]
    return None


def view(
    leave_types: Iterable[LeaveType],
    entered: Entered,
    person: Option | None,
    live: Sequence[Block],
    asides: Sequence[Block],
    *,
    alerts: Alerts,
    cover: User | None,
    may_override: bool,
) -> View:
    """The modal, as ``request_form.view``; ``person`` is the option that is chosen."""
    search = fields.external_select(ids.RECORD_PERSON, person, gettext("Name or e-mail address"))
    blocks = [
        *asides,
        fields.field(ids.PERSON, gettext("Person"), search) | {"dispatch_action": True},
        *request_form.blocks(
            leave_types,
            entered.filled,
            live,
            alerts=alerts,
            cover=cover,
            is_own=False,
            recount_id=ids.RECORD_RECOUNT,
            cover_search_id=ids.RECORD_COVER,
        ),
    ]
    if may_override:
        blocks.append(_override_field(entered.override_reason))
    return layout.modal(
        gettext("Record leave"), blocks, ids.RECORD_FORM, gettext("Record"), gettext("Cancel")
    )


def _override_field(reason: str | None) -> Block:
    return fields.field(
        ids.EXCEPTION_REASON,
        gettext("Reason for an exception"),
        fields.text_input(reason, MAX_REASON_LENGTH) | {"multiline": True},
        hint=gettext(
            "Only if the leave exceeds the allowance, or breaks the type's rules on notice, length "
            "or note. The person sees it."
        ),
        is_optional=True,
    )


def done(card: ApprovalCard) -> View:
    """What takes the form's place: the recorded leave, which can be cancelled at once."""
    request = card.request
    result = gettext("Recorded for {name}. They'll get a message.", name=card.requester.name)
    what = layout.cut(f"{card.requester.name}, {words.dates(request)}", layout.MAX_NAME)
    blocks = [
        layout.paragraph(result),
        layout.section(cards.summary(card)),
        layout.actions(cards.cancel_button(ids.CANCEL_RECORDED, request, what)),
    ]
    return layout.modal(gettext("Record leave"), blocks)
