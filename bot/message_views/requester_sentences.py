"""What requesters read about their own leave, as sentences without markup."""

from __future__ import annotations

from typing import Final

from bot.base.language import gettext, gettext_noop, ngettext
from bot.blocks import layout, words
from bot.message_views import cards
from bot.message_views.cards import GOES_BACK
from storage.admin.recalculation import Cause, TotalChange
from storage.base.event_values import NotificationEvent
from storage.notifications.approval_cards import ApprovalCard

_KEEPS_DATES: Final = frozenset(
    {
        "leave_request.amendment_declined",
        "leave_request.amendment_withdrawn",
        "leave_request.recounted",
    }
)
_CHANGES_DATES: Final = frozenset(
    {
        "leave_request.amendment_approved",
        "leave_request.shortened",
        "leave_request.updated",
    }
)
_CANCELLED: Final = gettext_noop("Your request was cancelled.")


def of_event(
    card: ApprovalCard, event_type: NotificationEvent, news: TotalChange | None
) -> str | None:
    return _event_sentence(card, event_type) if news is None else _recalculated(card, news)


def with_dates(card: ApprovalCard, event_type: NotificationEvent, sentence: str) -> str:
    """The sentence with the dates, which a reply does not show otherwise."""
    dates = words.dates(card.request)
    match event_type:
        case "leave_request.approved" | "leave_request.declined" | "leave_request.cancelled":
            named = of_status(card, dates)
        case "leave_request.decision_changed":
            return _reversed(card, dates)
        case "leave_request.dates_suggested":
            return sentence
        case _:
            named = sentence
    if named != sentence:
        return named
    proposed = None if card.open_amendment is None else card.open_amendment.amendment
    is_requested = event_type == "leave_request.amendment_requested"
    if is_requested and proposed is not None and not proposed.cancels:
        about = gettext("You asked for {dates}.", dates=words.dates(proposed))
    elif event_type in _KEEPS_DATES:
        about = gettext("It's still {dates}.", dates=dates)
    elif event_type in _CHANGES_DATES:
        about = gettext("It's now {dates}.", dates=dates)
    else:
        about = gettext("This is about {dates}.", dates=dates)
    return f"{sentence} {about}"


def of_status(card: ApprovalCard, dates: str = "") -> str:
    """The status as a sentence to the requester: ``Grace declined your request.``

    With ``dates``, it names them in place of the request, if a person changed the status.
    """
    by = card.ended_by_name and layout.cut(card.ended_by_name, layout.MAX_NAME)
    match card.request.status:
        case "pending":
            return _sent(card, is_new=card.request.version == 1)
        case "approved" if card.open_amendment is not None:
            return _change_sent(card)
        case "approved" if is_shown_as_recorded(card):
            if card.request.interrupts is None:
                return _recorded(card)
            replaces = gettext("It replaces leave that you had booked.")
            return f"{_recorded(card)} {replaces}"
        case "approved" if card.request.interrupts is not None:
            return gettext("Get well soon! This replaces leave that you had booked.")
        case "approved" if by and dates:
            return gettext("{name} approved {dates}.", name=by, dates=dates)
        case "approved" if by:
            return gettext("{name} approved your request.", name=by)
        case "approved":
            return _booked(card)
        case "declined" if by and dates:
            return gettext("{name} declined {dates}.", name=by, dates=dates)
        case "declined" if by:
            return gettext("{name} declined your request.", name=by)
        case "declined":
            return gettext("Your request was declined automatically.")
    return _cancelled_sentence(card, by, dates)


def _event_sentence(card: ApprovalCard, event_type: NotificationEvent) -> str | None:
    status = card.request.status
    if event_type == "cover.left":
        if status not in ("pending", "approved") or card.cover is not None:
            return None
        return gettext("The colleague who was to cover for you has left. Choose someone else.")
    if event_type == "leave_request.dates_suggested":
        return suggested(card) or None
    if event_type == "leave_request.suggestion_declined":
        return None
    if event_type.startswith("own_message."):
        return of_status(card)
    if event_type == "leave_request.approval_given":
        return None if card.first_approver_name is None else of_status(card)
    if event_type == "leave_request.approval_taken_back":
        return _first_approval_again(card)
    if event_type == "leave_request.updated" and status == "approved":
        return gettext("Your leave was changed.")
    if event_type.startswith("leave_request.amendment_"):
        return _amendment_sentence(card, event_type)
    if event_type in ("leave_request.created", "leave_request.updated"):
        if status != "pending":
            return None
        return _sent(card, is_new=event_type == "leave_request.created")
    if event_type == "leave_request.decision_changed":
        if status not in ("approved", "declined"):
            return None
        return _reversed(card)
    if event_type == "leave_request.shortened":
        return _shortened(card)
    if event_type != f"leave_request.{status}":
        return None
    return of_status(card)


def _recalculated(card: ApprovalCard, news: TotalChange) -> str | None:
    if card.request.status not in ("pending", "approved"):
        return None
    sentence = gettext(
        "Your leave now counts as {after} instead of {before}, because {why}.",
        after=_amount_or_nothing(news.after_half_days),
        before=_amount_or_nothing(news.before_half_days),
        why=_because(news.cause),
    )
    if news.after_half_days == 0:
        sentence += " " + gettext("It stays booked. Cancel it if you no longer need it.")
    return sentence


def _amount_or_nothing(half_days: int) -> str:
    return words.amount(half_days) if half_days else gettext("no days")


def _because(cause: Cause) -> str:
    match cause.code:
        case "working_days_changed":
            return gettext("your working days changed")
        case "public_holidays_changed":
            return gettext("different public holidays now apply to you")
        case "working_days_and_public_holidays_changed":
            return gettext("your working days and public holidays changed")
    if cause.holiday_date is None:
        return gettext("public holidays changed")
    day = words.day(cause.holiday_date)
    name = ""
    if cause.holiday_name:
        shown = words.holiday(cause.holiday_name, cause.holiday_country, cause.holiday_date)
        name = f" ({layout.cut(shown, 80)})"
    match cause.code:
        case "public_holiday_added":
            return gettext("{day} is now a public holiday", day=day) + name
        case "public_holiday_removed":
            return gettext("{day} is no longer a public holiday", day=day) + name
    return gettext("the public holiday on {day} changed", day=day) + name


def _shortened(card: ApprovalCard) -> str | None:
    request, requester = card.request, card.requester
    if request.status not in ("pending", "approved"):
        return None
    if requester.end_date == request.end_date:
        day = words.day(request.end_date)
        return gettext("Your leave was shortened, because your employment ends on {day}.", day=day)
    if requester.start_date == request.start_date:
        day = words.day(request.start_date)
        return gettext(
            "Your leave was shortened, because your employment starts on {day}.", day=day
        )
    return None


def _amendment_sentence(card: ApprovalCard, event_type: NotificationEvent) -> str | None:
    """None if the leave has changed again since."""
    amendment = card.amendment
    state = event_type.removeprefix("leave_request.amendment_").replace("requested", "open")
    if amendment is None or amendment.amendment.status != state:
        return None
    by = layout.cut(amendment.ended_by_name or "", layout.MAX_NAME)
    match state:
        case "open":
            return _change_sent(card)
        case "declined" if amendment.amendment.cancels:
            return gettext("{name} declined the cancellation. You keep this leave.", name=by)
        case "withdrawn" if amendment.amendment.cancels:
            return gettext("The cancellation was withdrawn. You keep this leave.")
        case "approved":
            return gettext("{name} approved your change.", name=by)
        case "declined":
            return gettext("{name} declined your change. Your leave stays as it was.", name=by)
    if amendment.amendment.decided_by == card.requester.id:
        return gettext("You withdrew your change. Your leave stays as it was.")
    return gettext("{name} withdrew your change. Your leave stays as it was.", name=by)


def _first_approval_again(card: ApprovalCard) -> str | None:
    """After the approval was taken back, or is void because the leave changed."""
    if card.request.status != "pending" or card.first_approver_name is not None:
        return None
    names = words.names([layout.cut(name, layout.MAX_NAME) for name in card.awaited_names])
    if names:
        return gettext("Your request needs a first approval again, from {names}.", names=names)
    return gettext("Your request needs a first approval again.")


def _change_sent(card: ApprovalCard) -> str:
    if card.first_approver_name is not None:
        waiting = cards.awaits_second(card.first_approver_name, card.second_approver_name)
        return gettext("{waiting}. Until then, your leave stays as it is.", waiting=waiting)
    names = words.names([layout.cut(name, layout.MAX_NAME) for name in card.awaited_names])
    if card.open_amendment is not None and card.open_amendment.amendment.cancels:
        if names:
            return gettext(
                "You asked {names} to cancel this leave. It stays booked until they agree.",
                names=names,
            )
        return gettext("You asked to cancel this leave. It stays booked until that is approved.")
    if names:
        return gettext(
            "Your change was sent to {names} for approval. Until then, your leave stays as it is.",
            names=names,
        )
    return gettext("Your change was sent for approval. Until then, your leave stays as it is.")


def _booked(card: ApprovalCard) -> str:
    """What people read whose leave needs no approval, with what others learn of it."""
    leave_type = card.leave_type
    if leave_type.requires_approval:
        return gettext("Your request was approved automatically.")
    first = gettext("Get well soon.") if leave_type.may_interrupt else gettext("Booked.")
    shown = layout.cut(words.leave_type(leave_type), layout.MAX_NAME)
    if leave_type.is_private:
        shown = gettext("Away") if leave_type.is_away else gettext("Working elsewhere")
    names = words.names([layout.cut(name, layout.MAX_NAME) for name in card.told_names])
    known = gettext("Colleagues see “{shown}”.", shown=shown)
    if not names:
        return f"{first} {known}"
    known = ngettext(
        "{names} knows; colleagues see “{shown}”.",
        "{names} know; colleagues see “{shown}”.",
        len(card.told_names),
        names=names,
        shown=shown,
    )
    return f"{first} {known}"


def _cancelled_sentence(card: ApprovalCard, by: str | None, dates: str) -> str:
    if card.cancelled_because == "interrupted":
        return gettext("Other leave replaced this.")
    if card.cancelled_because == "lapsed":
        return gettext(
            "Your request lapsed, because it wasn't decided within two weeks of its last day. "
            "If you were off, ask an admin to record the leave."
        )
    if card.cancelled_because == "employment_ends" and card.requester.end_date is not None:
        day = words.day(card.requester.end_date)
        return gettext("Your leave was cancelled, because your employment ends on {day}.", day=day)
    if card.cancelled_because == "employment_starts" and card.requester.start_date is not None:
        day = words.day(card.requester.start_date)
        return gettext(
            "Your leave was cancelled, because your employment starts on {day}.", day=day
        )
    if card.cancelled_because == "amendment_approved" and by:
        sentence = gettext("{name} agreed: your leave is cancelled.", name=by)
    elif card.is_cancelled_by_requester:
        own = gettext("You cancelled {dates}.", dates=dates)
        sentence = own if dates else gettext("You cancelled your request.")
    elif by and dates:
        sentence = gettext("{name} cancelled {dates}.", name=by, dates=dates)
    else:
        sentence = gettext("{name} cancelled your request.", name=by) if by else gettext(_CANCELLED)
    by_a_person = card.cancelled_because in (None, "amendment_approved")
    goes_back = card.request.interrupts is not None and by_a_person
    return f"{sentence} {gettext(GOES_BACK)}" if goes_back else sentence


def _reversed(card: ApprovalCard, dates: str = "") -> str:
    by = layout.cut(card.ended_by_name or "", layout.MAX_NAME)
    if dates and card.request.status == "approved":
        return gettext(
            "{name} changed the decision: {dates} is now approved.", name=by, dates=dates
        )
    if dates:
        return gettext(
            "{name} changed the decision: {dates} is now declined.", name=by, dates=dates
        )
    if card.request.status == "approved":
        return gettext("{name} changed the decision: your request is now approved.", name=by)
    return gettext("{name} changed the decision: your request is now declined.", name=by)


def _sent(card: ApprovalCard, *, is_new: bool) -> str:
    if card.first_approver_name is not None:
        return f"{cards.awaits_second(card.first_approver_name, card.second_approver_name)}."
    names = words.names([layout.cut(name, layout.MAX_NAME) for name in card.awaited_names])
    if is_new and names:
        return gettext("Your request was sent to {names} for approval.", names=names)
    if is_new:
        return gettext("Your request was sent for approval.")
    if names:
        return gettext("Your updated request was sent to {names} for approval.", names=names)
    return gettext("Your updated request was sent for approval.")


def suggested(card: ApprovalCard) -> str:
    """``Grace suggests other dates: Mon 10 to Wed 12 August 2026, 3 days.``, or ""."""
    shown = card.suggestion
    if shown is None or not shown.is_open:
        return ""
    return gettext(
        "{name} suggests other dates: {dates}, {amount}.",
        name=layout.cut(shown.suggested_by_name, layout.MAX_NAME),
        dates=words.dates(shown.suggestion),
        amount=words.amount(shown.half_days),
    )


def is_shown_as_recorded(card: ApprovalCard) -> bool:
    """Whether the leave is approved because it was recorded, and not by a later decision."""
    request = card.request
    return (
        request.status == "approved"
        and request.recorded_by is not None
        and request.recorded_by == request.decided_by
    )


def recorder(card: ApprovalCard) -> str:
    return layout.cut(card.recorded_by_name or "", layout.MAX_NAME)


def _recorded(card: ApprovalCard) -> str:
    return gettext("{name} recorded this leave for you.", name=recorder(card))
