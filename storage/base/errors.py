"""The errors that storage raises.

    DomainError
      InvalidInput            a field is wrong; carries one or more FieldError
      NotFound                missing, or not visible to the caller
      Forbidden
        InsufficientRole
        InsufficientScope
        OwnRequest
        NotYourField
      Unauthenticated
      Conflict
        InvalidTransition
        OverlappingLeave
        EmailTaken
        CodeTaken
        NameTaken
        AlreadyExists
        LastOwner
        InUse
        CannotArchiveSelf
      InsufficientAllowance
      UnusableCursor
    SchemaOutOfDate           for the operator, not for callers
    SecretKeysUnusable        for the operator as well
    DatabaseUnavailable       temporary: callers may retry
      OutcomeUnknown          the only error after which the change may have been saved

``code`` is public and never changes; sentences may change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date


class HalfDays(int):
    """An amount of leave in a sentence."""


# The values that fill a sentence's placeholders.
Figure = HalfDays | int | date | str | tuple[str, ...]


class Sentence(str):
    """An error message in English, with what a translation needs.

    ``template`` has ``{placeholders}`` for the ``figures``. Years are text, since numbers get
    thousands separators.
    """

    template: str
    figures: Mapping[str, Figure]

    def __new__(cls, template: str, /, **figures: Figure) -> Sentence:
        if isinstance(template, Sentence) and not figures:
            return template
        shown = {name: _in_english(figure) for name, figure in figures.items()}
        sentence = super().__new__(cls, template.format(**shown) if shown else template)
        sentence.template, sentence.figures = template, figures
        return sentence


def _in_english(figure: Figure) -> str:
    match figure:
        case HalfDays():
            return f"{figure / 2:g} {'day' if abs(figure) <= 2 else 'days'}"
        case int():
            return f"{figure:,}"
        case tuple():
            return ", ".join(figure)
    return str(figure)


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldError:
    """One wrong field.

    ``pointer`` is an RFC 6901 JSON pointer into the body, or ``?name`` for a query parameter.
    """

    pointer: str
    code: str
    detail: str


class DomainError(Exception):
    """A rule of the domain forbids the operation; nothing has changed."""

    code = "refused"
    title = "The request was refused."

    def __init__(self, template: str, /, **figures: Figure) -> None:
        self.detail = Sentence(template, **figures)
        super().__init__(self.detail)


class InvalidInput(DomainError):
    """One or more fields are invalid.

    ``code`` is the code of a single error, or ``invalid_input`` for several.
    """

    code = "invalid_input"
    title = "A field is invalid."

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__(" ".join(error.detail for error in errors))
        self.errors = tuple(errors)
        if len(self.errors) == 1:
            self.code = self.errors[0].code

    @classmethod
    def of(cls, field: str, code: str, template: str, /, **figures: Figure) -> InvalidInput:
        """The error of a single body field."""
        return cls(
            [FieldError(pointer=f"/{field}", code=code, detail=Sentence(template, **figures))]
        )


class NotFound(DomainError):
    """Missing, in another organisation or not visible; callers cannot tell which."""

    code = "not_found"
    title = "This does not exist, or you cannot see it."

    def __init__(self, kind: str) -> None:
        super().__init__("There is no such {kind}.", kind=kind)
        self.kind = kind


class Unauthenticated(DomainError):
    """The API key is missing, malformed, unknown, expired, revoked, or its owner is inactive."""

    code = "unauthenticated"
    title = "A valid API key is required."

    def __init__(self) -> None:
        super().__init__(
            "Send `Authorization: Bearer <API key>` with a key that is neither expired nor revoked."
        )


class Forbidden(DomainError):
    """The caller lacks a right."""

    code = "forbidden"
    title = "You are not allowed to do this."


class InsufficientRole(Forbidden):
    """The caller's role is too low."""

    code = "insufficient_role"
    title = "A higher role is required."

    def __init__(self, needed: str) -> None:
        super().__init__("This requires the role {needed} or higher.", needed=needed)
        self.needed = needed


class InsufficientScope(Forbidden):
    """The key lacks a scope."""

    code = "insufficient_scope"
    title = "The API key lacks a scope."

    def __init__(self, missing: str) -> None:
        super().__init__("The API key lacks the scope {missing}.", missing=missing)
        self.missing = missing


class OwnRequest(Forbidden):
    """People of any role cannot decide on their own requests."""

    code = "own_request"
    title = "You cannot decide on your own request."

    def __init__(self) -> None:
        super().__init__("You cannot decide on your own leave request. Another approver has to.")


class NotYourField(Forbidden):
    """People may change only some of their own fields."""

    code = "field_not_yours"
    title = "Only an admin or owner can change this."

    def __init__(self, fields: Sequence[str]) -> None:
        super().__init__("Only an admin or owner can change {fields}.", fields=tuple(fields))
        self.fields = tuple(fields)


class Conflict(DomainError):
    """The request is valid but conflicts with the current state."""

    code = "conflict"
    title = "This conflicts with the current state."


class InvalidTransition(Conflict):
    """The leave request's status does not allow the action."""

    code = "invalid_transition"
    title = "The leave request's status does not allow this."

    def __init__(self, action: str, status: str, decided_by_name: str | None = None) -> None:
        super().__init__(
            "The request is {status}, so it cannot be {action}.", status=status, action=action
        )
        self.action = action
        self.status = status
        self.decided_by_name = decided_by_name


class OverlappingLeave(Conflict):
    """The person already has pending or approved leave in the same half-days."""

    code = "overlapping_leave"
    title = "This overlaps with other leave."

    def __init__(
        self,
        other_id: str,
        start_date: date,
        end_date: date,
        *,
        begins_at_midday: bool = False,
        ends_at_midday: bool = False,
    ) -> None:
        first = f"{start_date} (afternoon)" if begins_at_midday else str(start_date)
        last = f"{end_date} (morning)" if ends_at_midday else str(end_date)
        if start_date == end_date:
            dates = last if ends_at_midday else first
        else:
            dates = f"{first} to {last}"
        super().__init__(
            "This overlaps with leave request {other_id} ({other_dates}).",
            other_id=other_id,
            other_dates=dates,
        )
        self.other_id = other_id
        self.start_date = start_date
        self.end_date = end_date
        self.begins_at_midday = begins_at_midday
        self.ends_at_midday = ends_at_midday


class EmailTaken(Conflict):
    """Another person of the organisation has this e-mail address."""

    code = "email_taken"
    title = "The e-mail address is already in use."

    def __init__(self, email: str) -> None:
        super().__init__("{email} belongs to another user of this organisation.", email=email)


class CodeTaken(Conflict):
    """Another leave type of the organisation has this code."""

    code = "code_taken"
    title = "The code is already in use."

    def __init__(self, code: str) -> None:
        super().__init__("Another leave type has the code {taken}.", taken=code)


class NameTaken(Conflict):
    """Another department, or another leave type in use, has this name."""

    code = "name_taken"
    title = "The name is already in use."

    def __init__(self, other_name: str, other_id: str) -> None:
        super().__init__(
            "{other_name} already exists ({other_id}).", other_name=other_name, other_id=other_id
        )
        self.other_name = other_name
        self.other_id = other_id


class AlreadyExists(Conflict):
    """The object exists already."""

    code = "already_exists"
    title = "This already exists."


class LastOwner(Conflict):
    """An organisation needs at least one active owner."""

    code = "last_owner"
    title = "An organisation needs an active owner."

    def __init__(self) -> None:
        super().__init__(
            "This is the organisation's last active owner. Make another person an owner first."
        )


class InUse(Conflict):
    """Other objects still refer to this one."""

    code = "in_use"
    title = "This is still in use."


class CannotArchiveSelf(Conflict):
    """People cannot archive or deactivate themselves."""

    code = "cannot_archive_self"
    title = "You cannot archive yourself."

    def __init__(self) -> None:
        super().__init__("Ask another admin or owner to do this for you.")


class InsufficientAllowance(DomainError):
    """A leave year of the request has too little left. Both amounts are in half-days."""

    code = "insufficient_allowance"
    title = "Not enough leave is left."

    def __init__(self, remaining_half_days: int, needed_half_days: int, leave_year: str) -> None:
        super().__init__(
            "{remaining} left in the leave year {leave_year}. This request needs {needed}.",
            leave_year=leave_year,
            remaining=HalfDays(remaining_half_days),
            needed=HalfDays(needed_half_days),
        )
        self.remaining_half_days = remaining_half_days
        self.needed_half_days = needed_half_days
        self.leave_year = leave_year


class UnusableCursor(DomainError):
    """The cursor was changed or belongs to another list, filter or organisation."""

    code = "invalid_cursor"
    title = "The cursor is invalid."

    def __init__(self) -> None:
        super().__init__(
            "Send the `next_cursor` of the previous page unchanged, with the same filters."
        )


class SchemaOutOfDate(Exception):
    """The database's schema is not the one that this version needs."""


class SecretKeysUnusable(Exception):
    """The secret keys cannot decrypt the secrets in the database."""

    def __init__(self) -> None:
        super().__init__(
            "The secret keys (HIATUS_SECRET_KEYS, or the key file beside an SQLite database) "
            "cannot decrypt the secrets in this database. Set the keys that it was last used "
            "with: the current key first, older keys after it, comma-separated. If they are "
            "lost for good, run `hiatus secrets reencrypt --accept-loss` with a new key."
        )


class DatabaseUnavailable(Exception):
    """The database did not respond; nothing has changed, and a retry may work."""


class OutcomeUnknown(DatabaseUnavailable):
    """The connection was lost during COMMIT: the change may or may not have been saved."""
