"""How the fields of values are shown to clients, as metadata of their types.

A value is a frozen dataclass whose fields are those of its row. ``record`` makes what REST and
webhooks show of it; the OpenAPI document is made of the same metadata.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import Field, PlainSerializer, TypeAdapter


@dataclass(frozen=True, kw_only=True, slots=True)
class About:
    """What the OpenAPI document says of a field, as metadata of its type."""

    description: str | None = None
    format: str | None = None
    example: object = None
    # The values that the text, or each text of the list, can have.
    enum: tuple[str, ...] = ()

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, object]:
        schema: dict[str, Any] = handler(core_schema)
        if self.enum:
            words = schema.get("items", schema)
            words["enum"] = [*self.enum]
        examples = None if self.example is None else [self.example]
        about = {"description": self.description, "format": self.format, "examples": examples}
        return schema | {name: value for name, value in about.items() if value is not None}


Id = Annotated[str, About(format="uuid")]
Days = Annotated[float, About(description="Days, in half-day steps.")]

# A field that clients do not see.
HIDDEN: Final = Field(exclude=True)


def days_of(half_days: int) -> float:
    """Half-days as days in JSON: an int where there is no half."""
    return half_days // 2 if half_days % 2 == 0 else half_days / 2


def days_or_none(half_days: int | None) -> float | None:
    """As ``days_of``; None for an amount that is not set."""
    return None if half_days is None else days_of(half_days)


# Half-days that are shown as days.
IN_DAYS: Final = PlainSerializer(days_of, return_type=float)
IN_DAYS_OR_NONE: Final = PlainSerializer(days_or_none, return_type=float | None)


_adapters: Final[dict[type, TypeAdapter[Any]]] = {}


def record(value: object) -> dict[str, Any]:
    """What clients see of a value, which is a dataclass; orjson writes it as it is."""
    kind: type[Any] = type(value)
    adapter = _adapters.get(kind) or _adapters.setdefault(kind, TypeAdapter(kind))
    shown: dict[str, Any] = adapter.dump_python(value, by_alias=True)
    return shown


def members(kind: Any) -> frozenset[str]:
    """The names of what clients see of a kind of value or record."""
    schema = TypeAdapter(kind).json_schema(mode="serialization")
    return frozenset(schema["properties"])
