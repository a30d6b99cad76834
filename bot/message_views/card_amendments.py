"""What approvers are asked about changes of approved leave: headings, differences and outcomes."""

from __future__ import annotations

from typing import Literal

from bot.base.language import gettext
from bot.blocks import layout, words
from storage.base.leave_values import Amendment, LeaveRequest, LeaveType
from storage.notifications.approval_cards import ApprovalCard, CardAmendment


def asked_kind(amendment: Amendment | None) -> Literal["request", "change", "cancellation"]:
    """What approvers are asked: about a request, if there is no amendment."""
    if amendment is None:
        return "request"
    return "cancellation" if amendment.cancels else "change"


def amendment_heading(card: ApprovalCard, proposed: CardAmendment) -> str:
    if proposed.amendment.cancels:
        return gettext(
            "*{requester}* asked to cancel approved *{leave_type}*",
            requester=layout.name(card.requester.name),
            leave_type=layout.name(words.leave_type(card.leave_type)),
        )
    return gettext(
        "*{requester}* asked to change approved *{leave_type}*",
        requester=layout.name(card.requester.name),
        leave_type=layout.name(words.leave_type(card.leave_type)),
    )


def card_differences(
    card: ApprovalCard, proposed: CardAmendment, *, is_bold: bool = True
) -> list[str]:
    """As ``differences`` of the card's amendment."""
    return differences(
        card.request,
        card.leave_type,
        proposed.amendment,
        proposed.leave_type,
        proposed.total_half_days,
        is_bold=is_bold,
    )


def differences(
    request: LeaveRequest,
    type_before: LeaveType,
    amendment: Amendment,
    type_after: LeaveType,
    half_days_after: int,
    *,
    is_bold: bool = True,
) -> list[str]:
    """Type, dates and amount, old and new where they differ, in mrkdwn."""
    pairs = [
        (words.dates(request), words.dates(amendment)),
        (words.amount(request.total_half_days), words.amount(half_days_after)),
    ]
    if type_before.id != type_after.id:
        pairs.insert(
            0,
            (layout.name(words.leave_type(type_before)), layout.name(words.leave_type(type_after))),
        )
    return [_difference(before, after, is_bold=is_bold) for before, after in pairs]


def new_values(
    request: LeaveRequest,
    type_before: LeaveType,
    amendment: Amendment,
    type_after: LeaveType,
    half_days_after: int,
) -> str:
    """What would be new: type, dates and amount where they differ, in mrkdwn."""
    pairs = [
        (type_before.id, type_after.id, layout.name(words.leave_type(type_after))),
        (words.dates(request), words.dates(amendment), words.dates(amendment)),
        (request.total_half_days, half_days_after, words.amount(half_days_after)),
    ]
    return ", ".join([f"*{shown}*" for before, after, shown in pairs if before != after])


def _difference(before: str, after: str, *, is_bold: bool) -> str:
    if before == after:
        return before
    new = f"*{after}*" if is_bold else after
    return gettext("{before} → {after}", before=before, after=new)


def amendment_sentence(card: ApprovalCard, proposed: CardAmendment) -> str:
    """The whole card in one sentence, for notifications and screen readers."""
    if proposed.amendment.cancels:
        return gettext(
            "{requester} asked to cancel approved {leave_type}: {leave}.",
            requester=layout.name(card.requester.name),
            leave_type=layout.name(words.leave_type(card.leave_type)),
            leave=", ".join(card_differences(card, proposed, is_bold=False)),
        )
    return gettext(
        "{requester} asked to change approved {leave_type}: {changes}.",
        requester=layout.name(card.requester.name),
        leave_type=layout.name(words.leave_type(card.leave_type)),
        changes=", ".join(card_differences(card, proposed, is_bold=False)),
    )


def amendment_outcome(card: ApprovalCard) -> str:
    """How the last amendment ended, if nothing changed since: plain text, or ""."""
    ended = card.amendment
    if ended is None or ended.is_open:
        return ""
    by = layout.cut(ended.ended_by_name or "", layout.MAX_NAME)
    proposed = _proposed(card, ended)
    match ended.amendment.status:
        case "declined" if ended.amendment.cancels:
            what = gettext("Cancellation declined by {name}", name=by)
        case "withdrawn" if ended.amendment.cancels:
            what = gettext("Cancellation withdrawn by {name}", name=by)
        case "approved":
            what = gettext("Change approved by {name}", name=by)
        case "declined":
            what = gettext("Change to {proposed} declined by {name}", proposed=proposed, name=by)
        case "withdrawn":
            what = gettext("Change to {proposed} withdrawn by {name}", proposed=proposed, name=by)
        case _:
            return ""
    at = ended.amendment.decided_at
    return (
        what
        if at is None
        else gettext("{what}, {when}", what=what, when=words.moment(at, card.timezone))
    )


def _proposed(card: ApprovalCard, ended: CardAmendment) -> str:
    """The type and dates that would have been new, as plain text."""
    before, after = words.dates(card.request), words.dates(ended.amendment)
    if card.leave_type.id == ended.leave_type.id:
        return after
    leave_type = layout.cut(words.leave_type(ended.leave_type), layout.MAX_NAME)
    return leave_type if after == before else f"{leave_type}, {after}"
