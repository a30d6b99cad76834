"""What messages say about amendments: old and new, with the differences in bold."""

from __future__ import annotations

from typing import Literal

from bot.base.language import gettext
from bot.blocks import text, words
from storage.base.values import Amendment, LeaveRequest, LeaveType
from storage.notifications.approval_cards import ApprovalCard
from storage.notifications.card_amendments import CardAmendment


def dates(leave: LeaveRequest | Amendment) -> str:
    """The dates with halves as text."""
    return words.span(leave.start_date, leave.end_date, leave.start_half_day, leave.end_half_day)


def kind(amendment: Amendment | None) -> Literal["request", "change", "cancellation"]:
    """What approvers are asked: about a request, if there is no amendment."""
    if amendment is None:
        return "request"
    return "cancellation" if amendment.cancels else "change"


def heading(card: ApprovalCard, proposed: CardAmendment) -> str:
    if proposed.amendment.cancels:
        return gettext(
            "*{requester}* asked to cancel approved *{leave_type}*",
            requester=text.name(card.requester.name),
            leave_type=text.name(card.leave_type.name),
        )
    return gettext(
        "*{requester}* asked to change approved *{leave_type}*",
        requester=text.name(card.requester.name),
        leave_type=text.name(card.leave_type.name),
    )


def of_card(card: ApprovalCard, proposed: CardAmendment, *, is_bold: bool = True) -> list[str]:
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
        (dates(request), dates(amendment)),
        (words.amount(request.total_half_days), words.amount(half_days_after)),
    ]
    if type_before.id != type_after.id:
        pairs.insert(0, (text.name(type_before.name), text.name(type_after.name)))
    return [_difference(before, after, is_bold=is_bold) for before, after in pairs]


def news(
    request: LeaveRequest,
    type_before: LeaveType,
    amendment: Amendment,
    type_after: LeaveType,
    half_days_after: int,
) -> str:
    """What would be new: type, dates and amount where they differ, in mrkdwn."""
    pairs = [
        (type_before.id, type_after.id, text.name(type_after.name)),
        (dates(request), dates(amendment), dates(amendment)),
        (request.total_half_days, half_days_after, words.amount(half_days_after)),
    ]
    return ", ".join([f"*{shown}*" for before, after, shown in pairs if before != after])


def _difference(before: str, after: str, *, is_bold: bool) -> str:
    if before == after:
        return before
    new = f"*{after}*" if is_bold else after
    return gettext("{before} → {after}", before=before, after=new)


def sentence(card: ApprovalCard, proposed: CardAmendment) -> str:
    """The whole card in one sentence, for notifications and screen readers."""
    if proposed.amendment.cancels:
        return gettext(
            "{requester} asked to cancel approved {leave_type}: {leave}.",
            requester=text.name(card.requester.name),
            leave_type=text.name(card.leave_type.name),
            leave=", ".join(of_card(card, proposed, is_bold=False)),
        )
    return gettext(
        "{requester} asked to change approved {leave_type}: {changes}.",
        requester=text.name(card.requester.name),
        leave_type=text.name(card.leave_type.name),
        changes=", ".join(of_card(card, proposed, is_bold=False)),
    )


def outcome(card: ApprovalCard) -> str:
    """How the last amendment ended, if nothing changed since: plain text, or ""."""
    ended = card.amendment
    if ended is None or ended.is_open:
        return ""
    by = text.cut(ended.ended_by_name or "", text.MAX_NAME)
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
    before, after = dates(card.request), dates(ended.amendment)
    if card.leave_type.id == ended.leave_type.id:
        return after
    leave_type = text.cut(ended.leave_type.name, text.MAX_NAME)
    return leave_type if after == before else f"{leave_type}, {after}"
