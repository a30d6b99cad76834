"""The modals for declining a request, for changing a decision, and for approving it anyway."""

from __future__ import annotations

from collections.abc import Sequence

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext
from bot.base.payloads import Values
from bot.blocks import fields, layout, words
from bot.message_views import card_amendments, cards
from storage.leave.decisions import MAX_REASON_LENGTH
from storage.notifications.approval_cards import ApprovalCard, CardAmendment


def view(card: ApprovalCard, private_metadata: str) -> View:
    """The modal; the reason is optional. ``private_metadata`` keeps the clicked message."""
    is_amendment = card.open_amendment is not None
    name = ids.AMENDMENT_DECLINE_FORM if is_amendment else ids.DECLINE_FORM
    return _form(card, name, private_metadata)


def view_from_home(card: ApprovalCard) -> View:
    """As ``view``, opened from Home: it keeps only the id of the request or its amendment."""
    proposed = card.open_amendment
    if proposed is not None:
        return _form(card, ids.HOME_AMENDMENT_DECLINE_FORM, proposed.amendment.id)
    return _form(card, ids.HOME_DECLINE_FORM, card.request.id)


def reversal(card: ApprovalCard, private_metadata: str) -> View:
    """The modal that reverses the decision."""
    title = gettext("Change decision")
    blocks = [layout.section(_what(card)), layout.quiet(layout.escaped(cards.state(card)))]
    if card.request.status == "approved":
        return _modal(
            title,
            gettext("Decline instead"),
            [*blocks, _reason()],
            callback_id=ids.REVERSE_TO_DECLINED_FORM,
            private_metadata=private_metadata,
        )
    return _modal(
        title,
        gettext("Approve instead"),
        blocks,
        callback_id=ids.REVERSE_TO_APPROVED_FORM,
        private_metadata=private_metadata,
    )


def approve_anyway(card: ApprovalCard, why: str, private_metadata: str) -> View:
    """The modal in which an admin says why a request is approved past the allowance.

    ``private_metadata`` is a packed ``Clicked``, or only the request's id from Home.
    """
    reason = fields.field(
        ids.EXCEPTION_REASON,
        gettext("Reason for an exception"),
        {"type": "plain_text_input", "multiline": True, "max_length": MAX_REASON_LENGTH},
        hint=gettext("It stays on the request and in the audit trail."),
    )
    return _modal(
        gettext("Approve anyway?"),
        gettext("Approve anyway"),
        [layout.section(_what(card)), layout.paragraph(why), reason],
        callback_id=ids.APPROVE_ANYWAY_FORM,
        private_metadata=private_metadata,
    )


def _what(card: ApprovalCard) -> str:
    return gettext(
        "*{requester}*: {leave_type}, {dates}",
        requester=layout.name(card.requester.name),
        leave_type=layout.name(words.leave_type(card.leave_type)),
        dates=words.dates(card.request),
    )


def _change(card: ApprovalCard, proposed: CardAmendment) -> str:
    lines = card_amendments.card_differences(card, proposed)
    return "\n".join((card_amendments.amendment_heading(card, proposed), *lines))


def _form(card: ApprovalCard, callback_id: str, private_metadata: str) -> View:
    proposed = card.open_amendment
    what = _what(card) if proposed is None else _change(card, proposed)
    blocks = [layout.section(what), _reason()]
    return _modal(
        _decline_title(proposed),
        gettext("Decline"),
        blocks,
        callback_id=callback_id,
        private_metadata=private_metadata,
    )


def _decline_title(proposed: CardAmendment | None) -> str:
    match card_amendments.asked_kind(None if proposed is None else proposed.amendment):
        case "request":
            return gettext("Decline request")
        case "change":
            return gettext("Decline change")
    return gettext("Decline cancellation")


def _modal(
    title: str, submit: str, blocks: Sequence[Block], *, callback_id: str, private_metadata: str
) -> View:
    return layout.modal(title, blocks, callback_id, submit, gettext("Back"), private_metadata)


def _reason() -> Block:
    return fields.field(
        ids.REASON,
        gettext("Reason"),
        {"type": "plain_text_input", "multiline": True, "max_length": MAX_REASON_LENGTH},
        hint=gettext("The requester will see this."),
        is_optional=True,
    )


def reason_of(values: Values) -> str | None:
    """The reason in the view's ``state.values``."""
    return fields.value_of(values, ids.REASON)


def override_reason_of(values: Values) -> str | None:
    """The reason for an exception in the view's ``state.values``."""
    return fields.value_of(values, ids.EXCEPTION_REASON)
