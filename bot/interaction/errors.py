"""Error sentences for Slack: of the domain, in the current language, and of Slack's Web API."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date
from typing import Any, Final

from bot.base import ids
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, words
from bot.client import slack_web
from bot.views.request_values import FIELDS, WHOLE, WITH_ALERT, Problems
from storage.base import errors
from storage.base.errors import (
    Days,
    DomainError,
    FieldError,
    Figure,
    HalfDays,
    InvalidInput,
    Sentence,
    ShortDay,
)
from storage.base.leave_values import TypeName
from storage.calendars.feeds import FeedTokenUnreadable

BROKEN: Final = gettext_noop(
    "Something went wrong on our side, and nothing was changed. Please try again."
)
BUSY: Final = gettext_noop("Hiatus isn't available right now. Please try again in a minute.")
UNKNOWN_OUTCOME: Final = gettext_noop(
    "The connection broke while I was saving this, so I can't tell whether it was saved. "
    "Please check before you try again."
)
OUTDATED: Final = gettext_noop(
    "This is from an older version of Hiatus, so nothing was changed. Please open it again."
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


SLACK_TIMED_OUT: Final = gettext_noop("Slack didn't respond in time. Please try again.")
_SLACK_UNREACHABLE: Final = gettext_noop(
    "I can't reach Slack right now. Please try again in a minute."
)
_SLACK_LIMITS: Final = gettext_noop(
    "Slack is limiting requests from Hiatus right now. Please try again in a minute."
)
_FORM_TOO_LATE: Final = gettext_noop(
    "That took too long, so Slack didn't open the form. Please try again."
)
_SLACK_REFUSED: Final = gettext_noop(
    "Slack refused this ({reason}). If it happens again, please tell the people who run Hiatus."
)
_INSTALL_AGAIN: Final = gettext_noop(
    "Hiatus is no longer connected to this workspace. Please ask a Slack admin to reinstall "
    "the app: {url}"
)
_NEW_TOKEN: Final = gettext_noop(
    "Hiatus is no longer connected to this workspace. Please ask the people who run Hiatus "
    "to reinstall the app and set its new bot token."
)
_GRANT_AGAIN: Final = gettext_noop(
    "Hiatus is missing a permission in this workspace. Please ask a Slack admin to reinstall "
    "the app and allow it: {url}"
)
_ADD_SCOPES: Final = gettext_noop(
    "Hiatus is missing a permission in this workspace. Please ask the people who run Hiatus "
    "to compare the app with its manifest and reinstall it."
)

# Domain sentences that Slack replaces: forms show labels instead of field names, and need fewer
# details than REST.
IN_SLACK: Final[Mapping[str, str]] = {
    "The last day ({end_date}) is before the first day ({start_date}).": gettext_noop(
        "The last day is before the first day."
    ),
    "{day} is too far away. Use a date from {earliest} to {latest}.": gettext_noop(
        "Choose a day within two years of today."
    ),
    "{field} is required.": gettext_noop("Fill this in."),
    "{field} cannot be null.": gettext_noop("Fill this in."),
    "{field} must be true or false.": gettext_noop("Choose one."),
    "{field} must be a time as HH:MM, such as 09:00.": gettext_noop("Enter a time such as 09:00."),
    "{field} must be a whole number from {least} to {most}.": gettext_noop(
        "Enter a whole number from {least} to {most}."
    ),
    "{field} must have 1 to {most} characters.": gettext_noop("Use 1 to {most} characters."),
    "{field} can have at most {most} characters.": gettext_noop("Use at most {most} characters."),
    "{field} contains the invisible character {character}. Remove it.": gettext_noop(
        "Remove the invisible character {character}, or type this again."
    ),
    "{field} must be an e-mail address such as ada@example.com.": gettext_noop(
        "Enter an e-mail address such as ada@example.com."
    ),
    "{field} needs at least one letter or digit that can be seen.": gettext_noop(
        "Use at least one letter or digit that can be seen."
    ),
    "{field} mixes letters of different alphabets before the @. Type it again in one alphabet.": (
        gettext_noop(
            "This mixes letters of different alphabets before the @. Type it again in one alphabet."
        )
    ),
    "There is no field {field}.": gettext_noop("This cannot be changed."),
    "A leave year cannot start on day {day} of month {month}.": gettext_noop(
        "A leave year can't start on this day. Choose another day or month."
    ),
    "There is no leave type with this id. GET /api/v1/leave-types lists the leave types "
    "({codes}).": gettext_noop("This leave type no longer exists. Choose another one."),
    "The person is {status} and cannot have a key.": gettext_noop(
        "This person is deactivated and can't have a key."
    ),
    "The webhook is disabled. PATCH it with `is_active` true first.": gettext_noop(
        "Switch the webhook on first."
    ),
    "{other_name} already exists ({other_id}).": gettext_noop("{other_name} already exists."),
    "You cannot decide on your own leave request. Another approver has to.": gettext_noop(
        "You can't decide on your own request. Another approver has to."
    ),
    "The request does not await your approval.": gettext_noop(
        "This request isn't yours to decide."
    ),
    "Send `always` true, or `over_days`: one of them.": gettext_noop(
        "Enter the number of days below."
    ),
    "You approved this already. It awaits the approval of another person.": gettext_noop(
        "You've approved this. It's waiting for another person's approval."
    ),
    "Read it again, then repeat the change.": gettext_noop(
        "This was changed while you were editing. Please try again."
    ),
}


def translated(sentence: str) -> str:
    """A domain sentence in the current language, with its figures formatted."""
    if not isinstance(sentence, Sentence):
        return gettext(sentence)
    template = IN_SLACK.get(sentence.template, sentence.template)
    return gettext(template, **{name: _figure(figure) for name, figure in sentence.figures.items()})


def _figure(figure: Figure) -> str:
    match figure:
        case TypeName():
            return words.type_name(figure)
        case HalfDays():
            return words.amount(figure)
        case int():
            return words.number(figure)
        case date():
            return words.day(figure)
        case Days():
            return words.few_runs(figure)
        case ShortDay():
            return words.short_day(figure.day)
        case tuple():
            return ", ".join(figure)
    return figure


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
            "You have no days{of_allowance} left in {year}. This request needs {needed}.{because}",
            of_allowance=_of_allowance(refusal),
            year=year,
            needed=needed,
            because=_because(refusal),
        )
    return gettext(
        "You have {left}{of_allowance} left in {year}. This request needs {needed}.{because}",
        left=words.amount(refusal.remaining_half_days),
        of_allowance=_of_allowance(refusal),
        year=year,
        needed=needed,
        because=_because(refusal),
    )


def _of_allowance(refusal: errors.InsufficientAllowance) -> str:
    """The allowance, with a space before it; empty for the default one."""
    if refusal.allowance_name is None:
        return ""
    return " " + gettext("of “{allowance}”", allowance=refusal.allowance_name)


def _because(refusal: errors.InsufficientAllowance) -> str:
    """Why so little is left, with a space before it; empty without later leave."""
    if refusal.later_leave is None:
        return ""
    dates = words.span(*refusal.later_leave)
    return " " + gettext("The other days are needed for later leave: {dates}.", dates=dates)


# What Slack says in other words than REST, where a template in ``IN_SLACK`` is not enough.
REWORDED: Final[Mapping[type[DomainError], Callable[[Any], str]]] = {  # type: ignore[explicit-any]  # each takes its own type
    errors.NotFound: _not_found,
    errors.InsufficientRole: _role,
    errors.InvalidTransition: _invalid_transition,
    errors.AmendmentEnded: _amendment_ended,
    errors.OverlappingLeave: _overlapping,
    errors.InsufficientAllowance: _insufficient_allowance,
    # Their messages speak of requests and tokens.
    errors.Unauthenticated: lambda _: gettext(BROKEN),
    errors.UnusableCursor: lambda _: gettext(BROKEN),
    FeedTokenUnreadable: lambda _: gettext(BROKEN),
}


def sentence(refusal: DomainError) -> str:
    """The error as one plain sentence, not escaped."""
    if isinstance(refusal, InvalidInput):
        return " ".join(translated(error.detail) for error in refusal.errors)
    reword = REWORDED.get(type(refusal))
    return translated(refusal.detail) if reword is None else reword(refusal)


def _overlapping_of_another(refusal: errors.OverlappingLeave) -> str:
    return gettext("This overlaps other leave of theirs ({when}).", when=_other_leave(refusal))


def _insufficient_of_another(refusal: errors.InsufficientAllowance) -> str:
    year, needed = refusal.leave_year, words.amount(refusal.needed_half_days)
    if refusal.remaining_half_days <= 0:
        return gettext(
            "They have no days{of_allowance} left in {year}. This needs {needed}.{because}",
            of_allowance=_of_allowance(refusal),
            year=year,
            needed=needed,
            because=_because(refusal),
        )
    return gettext(
        "They have {left}{of_allowance} left in {year}. This needs {needed}.{because}",
        left=words.amount(refusal.remaining_half_days),
        of_allowance=_of_allowance(refusal),
        year=year,
        needed=needed,
        because=_because(refusal),
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
        "This can no longer be approved. It needs {needed}, and too little{of_allowance} is left "
        "in {year}.",
        needed=words.amount(refusal.needed_half_days),
        of_allowance=_of_allowance(refusal),
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
            why = sentence(refusal)
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
    return [translated(warning.detail) for warning in warnings]


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
    return translated(detail)


def slack_failure(failure: Exception, install_url: str | None) -> str:
    """Why a call to Slack failed and what to do. ``install_url`` is None with one bot token."""
    code = slack_web.error_code(failure)
    if code in slack_web.TOKEN_REFUSED | {"not_authed", "token_expired"}:
        return gettext(_INSTALL_AGAIN, url=install_url) if install_url else gettext(_NEW_TOKEN)
    if code in ("missing_scope", "no_permission", "not_allowed_token_type"):
        return gettext(_GRANT_AGAIN, url=install_url) if install_url else gettext(_ADD_SCOPES)
    if code in ("expired_trigger_id", "trigger_expired"):
        return gettext(_FORM_TOO_LATE)
    if slack_web.is_rate_limit(failure):
        return gettext(_SLACK_LIMITS)
    if isinstance(failure, TimeoutError):
        return gettext(SLACK_TIMED_OUT)
    if slack_web.is_temporary(failure):
        return gettext(_SLACK_UNREACHABLE)
    return gettext(_SLACK_REFUSED, reason=code or "")
