"""Refusals that any kind of object may cause."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from storage.base.errors.sentences import Figure, Sentence
from storage.base.values import Role


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldError:
    """One wrong field.

    ``pointer`` is an RFC 6901 JSON pointer into the body, or ``?name`` for a query parameter.
    """

    pointer: str
    code: str
    detail: str


class DomainError(Exception):
    """A rule of the domain forbids the operation; nothing has changed.

    The docstring of each kind says what it means, for the documentation of the API. ``cure`` is
    what the client can do about it, ``sentence`` what an error without arguments says, ``example``
    the arguments of an example. ``members`` are its attributes that a problem has in addition, for
    programs; the class annotates their types.
    """

    code = "refused"
    title = "The request was refused."
    cure = ""
    sentence = Sentence("")
    example: ClassVar[tuple[Any, ...]] = ()
    members: ClassVar[tuple[str, ...]] = ()

    def __init__(self, template: str = "", /, **figures: Figure) -> None:
        self.detail = Sentence(template or self.sentence, **figures)
        super().__init__(self.detail)

    @classmethod
    def documented(cls) -> DomainError:
        """The example of the documentation."""
        return cls(*vars(cls).get("example", ()))


class InvalidInput(DomainError):
    """Several fields are wrong.

    `errors` has one entry for each, with a `pointer` to it. If only one field is wrong, the
    problem's own `code` is that field's code.
    """

    code = "invalid_input"
    title = "A field is invalid."
    cure = "Correct every field in `errors` and send the request again."
    example: ClassVar[tuple[Any, ...]] = (
        [
            FieldError(
                pointer="/end_date",
                code="end_before_start",
                detail="The last day (2026-08-03) is before the first day (2026-08-07).",
            ),
            FieldError(pointer="/note", code="note_required", detail="Annual leave needs a note."),
        ],
    )
    members: ClassVar[tuple[str, ...]] = ("errors",)
    errors: tuple[FieldError, ...]

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

    @classmethod
    def at(cls, pointer: str, code: str, detail: str) -> InvalidInput:
        """The error of a single parameter or header."""
        return cls([FieldError(pointer=pointer, code=code, detail=detail)])


class NotFound(DomainError):
    """It does not exist, belongs to another organisation, or you may not see it.

    The response is the same in all three cases, so that ids cannot be guessed.
    """

    code = "not_found"
    title = "This does not exist, or you cannot see it."
    cure = "Check the id, and that the key belongs to the right organisation and person."
    example: ClassVar[tuple[Any, ...]] = ("leave request",)

    def __init__(self, kind: str) -> None:
        super().__init__("There is no such {kind}.", kind=kind)
        self.kind = kind


class Unauthenticated(DomainError):
    """The header `Authorization` is missing or malformed, or the API key is unknown, expired or
    revoked, or the person behind it has been deactivated or archived.
    """

    code = "unauthenticated"
    title = "A valid API key is required."
    cure = (
        "Send `Authorization: Bearer hiatus_sk_live_…`. If the key no longer works, create another "
        "one."
    )
    sentence = Sentence(
        "Send `Authorization: Bearer <API key>` with a key that is neither expired nor revoked."
    )


class Forbidden(DomainError):
    """The key is valid, but its person may not do this."""

    code = "forbidden"
    title = "You are not allowed to do this."
    cure = "Ask an admin or owner of your organisation."
    example: ClassVar[tuple[Any, ...]] = ("You are not allowed to do this.",)
    # The body field that they may not send so, if any.
    field: ClassVar[str | None] = None

    @property
    def errors(self) -> tuple[FieldError, ...]:
        return (FieldError(pointer=f"/{self.field}", code=self.code, detail=self.detail),)


class InsufficientRole(Forbidden):
    """The person behind the key needs a higher role; `needed_role` names the lowest that does."""

    code = "insufficient_role"
    title = "A higher role is required."
    cure = "Use the key of a person with that role, or ask an owner to change yours."
    example: ClassVar[tuple[Any, ...]] = ("admin",)
    members = ("needed_role",)
    needed_role: Role

    def __init__(self, needed: Role) -> None:
        super().__init__("This requires the role {needed} or higher.", needed=needed)
        self.needed_role = needed


class InsufficientScope(Forbidden):
    """The key lacks a scope that this operation needs; `missing_scope` names it."""

    code = "insufficient_scope"
    title = "The API key lacks a scope."
    cure = "Create a key with the scope. The scopes of an existing key cannot be changed."
    example: ClassVar[tuple[Any, ...]] = ("leave:write",)
    members = ("missing_scope",)
    missing_scope: str

    def __init__(self, missing: str) -> None:
        super().__init__("The API key lacks the scope {missing}.", missing=missing)
        self.missing_scope = missing


class NotYourField(Forbidden):
    """Apart from first name, last name and job title, only admins and owners change a person's
    record; `fields` lists the fields that you may not change.
    """

    code = "field_not_yours"
    title = "Only an admin or owner can change this."
    cure = "Leave those fields out, or ask an admin or owner."
    example: ClassVar[tuple[Any, ...]] = (["role"],)
    members = ("fields",)
    fields: tuple[str, ...]

    def __init__(self, fields: Sequence[str]) -> None:
        super().__init__("Only an admin or owner can change {fields}.", fields=tuple(fields))
        self.fields = tuple(fields)


class Conflict(DomainError):
    """The request is valid but conflicts with the current state."""

    code = "conflict"
    title = "This conflicts with the current state."


class EmailTaken(Conflict):
    """Another person of the organisation has this e-mail address.

    Case does not matter. The address of an archived person is free.
    """

    code = "email_taken"
    title = "The e-mail address is already in use."
    cure = "Look the person up with `GET /api/v1/users`, or use another address."
    example: ClassVar[tuple[Any, ...]] = ("ada@example.com",)

    def __init__(self, email: str) -> None:
        super().__init__("{email} belongs to another user of this organisation.", email=email)


class EmployeeNumberTaken(Conflict):
    """Another person of the organisation has this employee number.

    The number of an archived person is free.
    """

    code = "employee_number_taken"
    title = "The employee number is already in use."
    cure = "Find the person with `GET /api/v1/users?employee_number=`, or use another number."
    example: ClassVar[tuple[Any, ...]] = ("10042",)

    def __init__(self, number: str) -> None:
        super().__init__("{number} is another person's employee number.", number=number)


class CodeTaken(Conflict):
    """Another leave type or allowance of the organisation has this code."""

    code = "code_taken"
    title = "The code is already in use."
    cure = "Choose another code, or change the other that has it."
    example: ClassVar[tuple[Any, ...]] = ("annual",)

    def __init__(self, code: str) -> None:
        super().__init__("The code {taken} is already in use.", taken=code)


class NameTaken(Conflict):
    """Another object of the kind has this name.

    Case does not matter. Names of archived leave types can be used again.
    """

    code = "name_taken"
    title = "The name is already in use."
    cure = "Use the existing one (`other_id` is its id), or choose another name."
    example: ClassVar[tuple[Any, ...]] = (
        "Research",
        "0197c2a4-7c1e-7d34-9f52-3a8a1c0f7b11",
    )
    members = ("other_id",)
    other_id: str

    def __init__(self, other_name: str, other_id: str) -> None:
        super().__init__(
            "{other_name} already exists ({other_id}).", other_name=other_name, other_id=other_id
        )
        self.other_name = other_name
        self.other_id = other_id


class AlreadyExists(Conflict):
    """It already exists."""

    code = "already_exists"
    title = "This already exists."
    cure = "Use the existing one; the list shows it."
    example: ClassVar[tuple[Any, ...]] = ("There is already a holiday set for GB-SCT.",)


class LastOwner(Conflict):
    """An organisation needs at least one active owner, so the last one cannot be demoted,
    deactivated or archived.
    """

    code = "last_owner"
    title = "An organisation needs an active owner."
    cure = "Make another person an owner first."
    sentence = Sentence(
        "This is the organisation's last active owner. Make another person an owner first."
    )


class InUse(Conflict):
    """It is still in use, so it cannot be deleted."""

    code = "in_use"
    title = "This is still in use."
    cure = "Move what uses it, then delete it."
    example: ClassVar[tuple[Any, ...]] = ("People belong to this department.",)


class CannotArchiveSelf(Conflict):
    """People cannot archive or deactivate themselves."""

    code = "cannot_archive_self"
    title = "You cannot archive yourself."
    cure = "Ask another admin or owner."
    sentence = Sentence("Ask another admin or owner to do this for you.")


class UnusableCursor(DomainError):
    """The cursor was altered, or comes from another list, filter, sort or organisation."""

    code = "invalid_cursor"
    title = "The cursor is invalid."
    cure = "Send `next_cursor` unchanged, with the same parameters, or start without a cursor."
    sentence = Sentence(
        "Send the `next_cursor` of the previous page unchanged, with the same filters."
    )
