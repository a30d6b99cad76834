"""The fields of values by name."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def field_names(value: DataclassInstance | type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(value))


def as_dict(value: DataclassInstance) -> dict[str, Any]:
    """A value's fields by name; unlike ``dataclasses.asdict``, without copies."""
    return {name: getattr(value, name) for name in field_names(value)}
