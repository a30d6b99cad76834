"""Every error of a body or query has our own sentence, none of pydantic's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

from api.http.field_errors import refusal_of
from api.service.app import OPERATIONS
from storage.base.errors import InvalidInput

_VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, float("inf"), 10**30, [], [1], {}),
    *("", "x" * 5_000, ["x" * 5_000], ["x"] * 100, "true", "1.5", "9" * 5_000, "a\0b"),
)
# Parts of pydantic's own sentences, and of a template that was not filled in.
_NOT_OURS = ("Input should", "should", "unable to parse", "is not a valid value", "{")


def _faults() -> Iterator[InvalidInput]:
    for operation in OPERATIONS:
        for model, in_query in ((operation.body, False), (operation.query, True)):
            if model is not None:
                yield from _faults_of(model, in_query)


def _faults_of(model: type[BaseModel], in_query: bool) -> Iterator[InvalidInput]:
    names = [field.alias or name for name, field in model.model_fields.items()]
    # A query has only strings.
    values = [value for value in _VALUES if isinstance(value, str) or not in_query]
    sent: list[Any] = [{name: value} for name in [*names, "other"] for value in values]
    for content in sent if in_query else [*sent, *values]:
        try:
            if in_query:
                model.model_validate(content)
            else:
                model.model_validate_json(to_json(content, inf_nan_mode="constants"))
        except ValidationError as error:
            refusal = refusal_of(error, model, in_query=in_query)
            if isinstance(refusal, InvalidInput):
                yield refusal


def test_no_error_has_a_sentence_of_pydantic() -> None:
    faults = [error for refusal in _faults() for error in refusal.errors]

    assert {error.code for error in faults} >= {"required", "too_short", "not_one_of"}
    assert {
        error.detail for error in faults if any(word in error.detail for word in _NOT_OURS)
    } == set()
