"""Error sentences for Slack: one table with a sentence for each type of error."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

import structlog
from slack_bolt.response import BoltResponse

from bot.base import ids
from bot.base.language import gettext, gettext_noop
from bot.blocks import words
from bot.interaction import domain_sentences
from bot.views.request_values import FIELDS
from storage.access.feeds import TooManyFeeds
from storage.access.idempotency import (
    IdempotencyAnswerUnreadable,
    IdempotencyInProgress,
    IdempotencyKeyReused,
)
from storage.access.personal_feeds import FeedTokenUnreadable
from storage.admin.holiday_overrides import TooManyOverrides
from storage.admin.holiday_set_removal import HolidaySetInUse
from storage.admin.people_checks import UserArchived
from storage.admin.people_status import UserPending
from storage.base import errors
from storage.base.errors import DomainError, InvalidInput
from storage.directory.people_changes import ChangedMeanwhile
from storage.leave.adjustments import TooManyAdjustments
from storage.leave.decisions import NotYourApproval
from storage.slack.join_policy import NotAMember
from storage.slack.workspace_matching import NotLinked
from storage.webhooks.requested_deliveries import WebhookDisabled
from storage.webhooks.webhooks import TooManyWebhooks

_log = structlog.stdlib.get_logger("hiatus.slack")

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
        role=words.role(refusal.needed),
    )


def _not_found(refusal: errors.NotFound) -> str:
    if refusal.kind == "leave request":
        return gettext("This request doesn't exist, or you no longer have access to it.")
    return gettext("This no longer exists. It may just have been removed.")


def _invalid_transition(refusal: errors.InvalidTransition) -> str:
    if refusal.status == "pending":
        return gettext("This request has just changed. Please check it and try again.")
    by = refusal.decided_by_name
    match refusal.status:
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
    errors.Unauthenticated: lambda _: gettext(BROKEN),
    errors.Conflict: detail,
    errors.InvalidTransition: _invalid_transition,
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
    TooManyWebhooks: detail,
    HolidaySetInUse: detail,
    TooManyOverrides: detail,
    WebhookDisabled: detail,
}


def sentence(refusal: DomainError) -> str:
    """The error as one plain sentence, not escaped."""
    # Show the detail of a type that is missing from the table rather than nothing.
    return SENTENCES.get(type(refusal), detail)(refusal)


def not_reversible(refusal: errors.OverlappingLeave | errors.InsufficientAllowance) -> str:
    """Why a declined request can no longer be approved, for its approver."""
    if isinstance(refusal, errors.OverlappingLeave):
        when = _other_leave(refusal)
        return gettext(
            "This can no longer be approved. It overlaps other leave ({when}).", when=when
        )
    return gettext(
        "This can no longer be approved. It needs {needed}, and not enough is left in {year}.",
        needed=words.amount(refusal.needed_half_days),
        year=refusal.leave_year,
    )


def inline(refusal: DomainError, inputs: Collection[str] = FIELDS) -> dict[str, str]:
    """The error as errors of the request form: block id to sentence.

    Errors of fields that are not among ``inputs`` go to the first day's block.
    """
    by_block: dict[str, str] = {}
    for name, message in _by_field(refusal):
        block = name if name in inputs else ids.FIRST_DAY
        by_block[block] = f"{by_block[block]} {message}" if block in by_block else message
    return by_block


def before_sending(refusals: Iterable[DomainError]) -> list[str]:
    """Why the request form could not be sent yet; a missing note is not an error yet."""
    return [
        message for refusal in refusals for name, message in _by_field(refusal) if name != ids.NOTE
    ]


def _by_field(refusal: DomainError) -> list[tuple[str, str]]:
    if not isinstance(refusal, InvalidInput):
        return [("", sentence(refusal))]
    return [
        (error.pointer.lstrip("/").split("/")[0], domain_sentences.translated(error.detail))
        for error in refusal.errors
    ]


async def on_error(error: Exception) -> BoltResponse:
    """Bolt's error handler: logs errors outside our listeners; 503 makes Slack resend events."""
    _log.error("slack.failed_outside_listeners", exc_info=error)
    return BoltResponse(status=503, body="")
