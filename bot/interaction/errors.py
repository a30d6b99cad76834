"""Error sentences for Slack: one table with a sentence for each type of error."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from bot.base import ids
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, words
from bot.interaction import domain_sentences
from bot.views.request_values import FIELDS, WHOLE, WITH_ALERT, Problems
from storage.access.display_links import TooManyDisplayLinks
from storage.access.feeds import FeedTokenUnreadable, TooManyFeeds
from storage.access.idempotency import (
    IdempotencyAnswerUnreadable,
    IdempotencyInProgress,
    IdempotencyKeyReused,
)
from storage.admin.channel_digests import TooManyDigests
from storage.admin.employment_records import (
    EmploymentRecordExists,
    FirstEmploymentRecord,
    TooManyRecords,
)
from storage.admin.holiday_overrides import TooManyOverrides
from storage.admin.holiday_set_changes import HolidaySetInUse
from storage.admin.people_status import UserArchived, UserPending
from storage.base import errors
from storage.base.errors import DomainError, FieldError, InvalidInput
from storage.directory.people_changes import ChangedMeanwhile
from storage.leave.adjustments import TooManyAdjustments
from storage.leave.decisions import NotYourApproval
from storage.leave.leave_types import TooManyLeaveTypes
from storage.slack.join_policy import NotAMember
from storage.slack.slack_workspaces import NotLinked
from storage.webhooks.delivery_log import WebhookDisabled
from storage.webhooks.webhooks import TooManyWebhooks

BROKEN: Final = gettext_noop(
    "Something went wrong on our side, and nothing was changed. Please try again."
)
BUSY: Final = gettext_noop("Hiatus isn't available right now. Please try again in a minute.")
UNKNOWN_OUTCOME: Final = gettext_noop(
    "The connection broke while I was saving this, so I can't tell whether it was saved. "
    "Please check before you try again."
)
NOT_INSTALLED: Final = gettext_noop(
    "Hiatus isn't installed in this Slack workspace. Please ask a Slack admin to install it: {url}"
)
UNKNOWN_WORKSPACE: Final = gettext_noop(
    "This Slack workspace isn't linked to an organisation in Hiatus. The people who run "
    "Hiatus can link it with `hiatus slack link`."
)
SLOW: Final = gettext_noop(
    "This is taking longer than usual. Nothing is lost: I'll message you as soon as it's done."
)


def detail(refusal: DomainError) -> str:
    return domain_sentences.translated(refusal.detail)


def details(refusal: InvalidInput) -> str:
    return " ".join(domain_sentences.translated(error.detail) for error in refusal.errors)


def _role(refusal: errors.InsufficientRole) -> str:
    return gettext(
        "You need the role {role} or higher to do this.",
        role=words.role(refusal.needed_role),
    )


def _not_found(refusal: errors.NotFound) -> str:
    if refusal.kind == "leave request":
        return gettext("This request doesn't exist, or you no longer have access to it.")
    return gettext("This no longer exists. It may just have been removed.")


def _invalid_transition(refusal: errors.InvalidTransition) -> str:
    if refusal.leave_status == "pending":
        return gettext("This request has just changed. Please check it and try again.")
    by = refusal.decided_by_name
    match refusal.leave_status:
        case "cancelled":
            return (
                gettext("Already cancelled by {name}.", name=by)
                if by
                else gettext("Already cancelled.")
            )
        case "approved":
            return (
                gettext("Already approved by {name}.", name=by)
                if by
                else gettext("Already approved.")
            )
    return gettext("Already declined by {name}.", name=by) if by else gettext("Already declined.")


def _amendment_ended(refusal: errors.AmendmentEnded) -> str:
    match refusal.status:
        case "approved":
            return gettext("This change was already approved.")
        case "declined":
            return gettext("This change was already declined.")
        case "withdrawn":
            return gettext("This change was withdrawn.")
        case "replaced":
            return gettext("This change was replaced by a newer one. Please look at that.")
    return gettext("This change is no longer needed: the leave has changed since.")


def _overlapping(refusal: errors.OverlappingLeave) -> str:
    return gettext("This overlaps your leave ({when}).", when=_other_leave(refusal))


def _other_leave(refusal: errors.OverlappingLeave) -> str:
    """The dates of the overlapping leave, with halves."""
    return words.span(
        refusal.start_date,
        refusal.end_date,
        "pm" if refusal.begins_at_midday else None,
        "am" if refusal.ends_at_midday else None,
    )


def _insufficient_allowance(refusal: errors.InsufficientAllowance) -> str:
    year, needed = refusal.leave_year, words.amount(refusal.needed_half_days)
    if refusal.remaining_half_days <= 0:
        return gettext(
            "You have no days left in {year}. This request needs {needed}.",
            year=year,
            needed=needed,
        )
    return gettext(
        "You have {left} left in {year}. This request needs {needed}.",
        left=words.amount(refusal.remaining_half_days),
        year=year,
        needed=needed,
    )


SENTENCES: Final[Mapping[type[DomainError], Callable[[Any], str]]] = {  # type: ignore[explicit-any]  # each takes its own type
    InvalidInput: details,
    errors.NotFound: _not_found,
    errors.Forbidden: detail,
    errors.InsufficientRole: _role,
    errors.InsufficientScope: detail,
    errors.OwnRequest: lambda _: gettext(
        "You can't decide on your own request. Another approver has to."
    ),
    errors.NotYourField: detail,
    errors.RecordingNotAllowed: detail,
    errors.LeaveTypeNotRecordable: detail,
    errors.OverrideNotAllowed: detail,
    errors.Unauthenticated: lambda _: gettext(BROKEN),
    errors.Conflict: detail,
    errors.InvalidTransition: _invalid_transition,
    errors.AlreadyObjected: detail,
    errors.AmendmentEnded: _amendment_ended,
    errors.DaysNoLongerFit: detail,
    errors.OverlappingLeave: _overlapping,
    errors.EmailTaken: detail,
    errors.CodeTaken: detail,
    errors.NameTaken: lambda refusal: gettext("{name} already exists.", name=refusal.other_name),
    errors.AlreadyExists: detail,
    errors.LastOwner: detail,
    errors.InUse: detail,
    errors.CannotArchiveSelf: detail,
    errors.InsufficientAllowance: _insufficient_allowance,
    errors.UnusableCursor: lambda _: gettext(BROKEN),
    IdempotencyAnswerUnreadable: lambda _: gettext(BROKEN),
    IdempotencyInProgress: lambda _: gettext(BROKEN),
    IdempotencyKeyReused: lambda _: gettext(BROKEN),
    NotAMember: detail,
    NotLinked: detail,
    NotYourApproval: lambda _: gettext("This request isn't yours to decide."),
    UserArchived: detail,
    UserPending: detail,
    ChangedMeanwhile: lambda _: gettext(
        "This was changed while you were editing. Please try again."
    ),
    TooManyAdjustments: detail,
    TooManyFeeds: detail,
    FeedTokenUnreadable: lambda _: gettext(BROKEN),
    TooManyDigests: detail,
    TooManyLeaveTypes: detail,
    TooManyDisplayLinks: detail,
    TooManyWebhooks: detail,
    HolidaySetInUse: detail,
    TooManyOverrides: detail,
    EmploymentRecordExists: detail,
    FirstEmploymentRecord: detail,
    TooManyRecords: detail,
    WebhookDisabled: detail,
}


def sentence(refusal: DomainError) -> str:
    """The error as one plain sentence, not escaped."""
    # Show the detail of a type that is missing from the table rather than nothing.
    return SENTENCES.get(type(refusal), detail)(refusal)


def _overlapping_of_another(refusal: errors.OverlappingLeave) -> str:
    return gettext("This overlaps other leave of theirs ({when}).", when=_other_leave(refusal))


def _insufficient_of_another(refusal: errors.InsufficientAllowance) -> str:
    year, needed = refusal.leave_year, words.amount(refusal.needed_half_days)
    if refusal.remaining_half_days <= 0:
        return gettext(
            "They have no days left in {year}. This needs {needed}.", year=year, needed=needed
        )
    return gettext(
        "They have {left} left in {year}. This needs {needed}.",
        left=words.amount(refusal.remaining_half_days),
        year=year,
        needed=needed,
    )


# Sentences that differ where the leave is another person's.
_OF_ANOTHER: Final[Mapping[type[DomainError], Callable[[Any], str]]] = {  # type: ignore[explicit-any]  # each takes its own type
    errors.OverlappingLeave: _overlapping_of_another,
    errors.InsufficientAllowance: _insufficient_of_another,
}
_DETAILS_OF_ANOTHER: Final = {
    "You're not working on any of these days.": gettext_noop(
        "They're not working on any of these days."
    ),
}


def not_reversible(refusal: errors.OverlappingLeave | errors.InsufficientAllowance) -> str:
    """Why a declined request or a change can no longer be approved, for its approver."""
    if isinstance(refusal, errors.OverlappingLeave):
        when = _other_leave(refusal)
        return gettext(
            "This can no longer be approved. It overlaps other leave ({when}).", when=when
        )
    return gettext(
        "This can no longer be approved. It needs {needed}, and too little is left in {year}.",
        needed=words.amount(refusal.needed_half_days),
        year=refusal.leave_year,
    )


def too_little_left(refusal: errors.InsufficientAllowance) -> str:
    """Why a pending request cannot be approved now, for its approver."""
    why = _insufficient_of_another(refusal)
    how = gettext("They can shorten the request, or an admin can approve it anyway.")
    return f"{why} {how}"


def not_approvable(refusal: DomainError) -> str:
    """Why a change can no longer be approved, for its approver."""
    match refusal:
        case errors.OverlappingLeave() | errors.InsufficientAllowance():
            return not_reversible(refusal)
        case InvalidInput():
            why = details(refusal)
            return gettext("This can no longer be approved. {reason}", reason=why)
    return sentence(refusal)


def inline(
    refusal: DomainError,
    inputs: Collection[str] = FIELDS,
    *,
    shown: Collection[str] = (),
    is_own: bool = True,
) -> dict[str, str]:
    """The error as errors of the request form: block id to sentence.

    Errors of fields that are not among ``inputs`` go to the first day's block. ``shown`` are
    sentences that the form shows already. ``is_own``: it is the reader's own leave.
    """
    by_block: dict[str, str] = {}
    for name, message in _by_field(refusal, is_own):
        if message in shown:
            continue
        block = _block_of(name, inputs)
        by_block[block] = f"{by_block[block]} {message}" if block in by_block else message
    return by_block


def _block_of(name: str, inputs: Collection[str]) -> str:
    if name in (ids.BEGINS, ids.ENDS) and ids.PART_OF_DAY in inputs:
        return ids.PART_OF_DAY
    return next((block for block in inputs if fields.field_of(block) == name), ids.FIRST_DAY)


def before_sending(refusals: Iterable[DomainError], *, is_own: bool = True) -> Problems:
    """Why the request form could not be sent yet; a missing note or cover is not an error yet."""
    problems: dict[str, list[str]] = {}
    for refusal in refusals:
        for name, message in _by_field(refusal, is_own):
            if name not in (ids.NOTE, ids.COVER):
                field = name if name in WITH_ALERT else WHOLE
                problems.setdefault(field, []).append(message)
    return problems


def of_fields(warnings: Iterable[FieldError]) -> list[str]:
    """The warnings of a preview, as plain sentences."""
    return [domain_sentences.translated(warning.detail) for warning in warnings]


def _by_field(refusal: DomainError, is_own: bool) -> list[tuple[str, str]]:
    if not isinstance(refusal, InvalidInput):
        field = refusal.field if isinstance(refusal, errors.Forbidden) else None
        say = sentence if is_own else _OF_ANOTHER.get(type(refusal), sentence)
        return [(field or "", say(refusal))]
    return [
        (error.pointer.lstrip("/").split("/")[0], _detail_of(error.detail, is_own))
        for error in refusal.errors
    ]


def _detail_of(detail: str, is_own: bool) -> str:
    if not is_own and detail in _DETAILS_OF_ANOTHER:
        return gettext(_DETAILS_OF_ANOTHER[detail])
    return domain_sentences.translated(detail)
