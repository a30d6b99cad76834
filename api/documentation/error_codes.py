"""The meaning and cure of each `code`, for OpenAPI and the errors page.

The rows are in ``explained_refusals`` and ``explained_fields``. A code without a row fails the
tests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from api.documentation.explained_fields import OF_FIELDS, OF_FORM
from api.documentation.explained_refusals import EXPLAINED, Explained
from api.http import errors as http
from storage.base.errors import DomainError, InvalidInput


@dataclass(frozen=True, kw_only=True, slots=True)
class Code:
    """One code as the documentation shows it. ``detail`` and ``members`` are an example's.

    A few codes are also those of a field, with status 422: see ``of_field``.
    """

    code: str
    status: int
    title: str
    meaning: str
    cure: str
    detail: str
    members: Mapping[str, object]


def every_code() -> list[Code]:
    codes = [*_of_refusals(), *_of_form(), *_of_fields()]
    return sorted(codes, key=lambda row: (row.code, row.status))


def named(code: str) -> Code:
    """The code's row; if a field may have it as well, that of the whole problem."""
    return next(row for row in every_code() if row.code == code)


def of_refusal(kind: type[DomainError]) -> Code:
    """The code of one type of error. Raises LookupError if it has no explanation."""
    explained = next((row for row in EXPLAINED if type(row.example) is kind), None)
    if explained is None:
        raise LookupError(f"{kind.__name__} needs a row in explained_refusals.EXPLAINED.")
    return _of(explained)


def of_form(code: str) -> Code:
    """One of the codes that only HTTP knows. Raises LookupError."""
    row = next((row for row in _of_form() if row.code == code), None)
    if row is None:
        raise LookupError(f"{code} needs a row in explained_fields.OF_FORM.")
    return row


def of_field(code: str) -> Code:
    """A field's code as the whole problem's. Raises LookupError."""
    if code not in OF_FIELDS:
        raise LookupError(f"{code} needs a row in explained_fields.OF_FIELDS.")
    meaning, cure = OF_FIELDS[code]
    status = http.status_of(InvalidInput)
    return Code(
        code=code,
        status=status,
        title=InvalidInput.title,
        meaning=meaning,
        cure=cure,
        detail=meaning,
        members={},
    )


def _of(explained: Explained) -> Code:
    example, kind = explained.example, type(explained.example)
    return Code(
        code=kind.code,
        status=http.status_of(kind),
        title=kind.title,
        meaning=explained.meaning,
        cure=explained.cure,
        detail=example.detail,
        members=http.extension_members(example),
    )


def _of_refusals() -> Iterator[Code]:
    return map(_of, EXPLAINED)


def _of_form() -> Iterator[Code]:
    rows = {kind.code: (kind.status, kind.title, kind.title) for kind in http.HTTP_REFUSALS}
    rows[http.HttpRefusal.code] = (http.HttpRefusal.status, http.HttpRefusal.title, "")
    for status, (code, title, detail) in http.HTTP_PROBLEMS.items():
        rows[code] = (status, title, detail)
    code, title, detail = http.OUTCOME_UNKNOWN
    rows[code] = (503, title, detail)
    for code, (status, title, detail) in rows.items():
        if code in OF_FORM:
            meaning, cure = OF_FORM[code]
            yield Code(
                code=code,
                status=status,
                title=title,
                meaning=meaning,
                cure=cure,
                detail=detail or title,
                members={},
            )


def _of_fields() -> Iterator[Code]:
    return map(of_field, OF_FIELDS)
