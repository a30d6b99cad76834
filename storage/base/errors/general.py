"""Refusals that any kind of object may cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from storage.base.errors.sentences import Figure, Sentence


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
    """The caller lacks a right. ``field`` is the body field that they may not send so, if any."""

    code = "forbidden"
    title = "You are not allowed to do this."
    field: str | None = None


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


class UnusableCursor(DomainError):
    """The cursor was changed or belongs to another list, filter or organisation."""

    code = "invalid_cursor"
    title = "The cursor is invalid."

    def __init__(self) -> None:
        super().__init__(
            "Send the `next_cursor` of the previous page unchanged, with the same filters."
        )
