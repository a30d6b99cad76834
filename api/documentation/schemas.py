"""The schemas of bodies and responses, their examples, and the codes of their invalid fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, Union

import orjson
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

from api.http.errors import Problem
from api.http.operations import Operation
from storage.outbox.webhook_outbox import EventBody, PingBody, TimeCreditEventBody, UserEventBody

Json = dict[str, Any]
# An operation id or another name, and whether the model is a request's or a response's.
SchemaKey = tuple[str, JsonSchemaMode]

REF: Final = "#/components/schemas/{model}"
_GENERIC: Final = re.compile(rb"(Listing)_(\w+?)_(?=\W|$)")
_EXAMPLES: Final = {
    "uuid": "0197c2a4-9d20-7e66-8a31-50fb7c2d4e12",
    "date": "2026-08-03",
    "date-time": "2026-06-15T09:30:00.412000Z",
    "email": "ada@example.com",
    "uri": "https://example.com/hooks/leave",
}
_CODES: Final = {
    "uuid": "not_a_uuid",
    "date": "invalid_date",
    "date-time": "invalid_date_time",
}


class NoExample(Exception):
    """A text has no example; its model needs one."""


class _Generator(GenerateJsonSchema):
    """Without titles that repeat a field's name, and without null where it only means "absent"."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def dataclass_schema(self, schema: Any) -> Any:
        # The component of a value is named as those of other responses.
        return {**super().dataclass_schema(schema), "x-value": True}

    def default_schema(self, schema: Any) -> Any:
        described = super().default_schema(schema)
        if described.get("default", 0) is None:
            del described["default"]
        return described


def class_name(words: str) -> str:
    """`leave_request.created` as `LeaveRequestCreated`."""
    return "".join(word.capitalize() for word in re.split(r"[._]", words))


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Of a type that many operations send or return: making one takes milliseconds."""
    return TypeAdapter(kind)


def of_query(operation: Operation) -> Json:
    return _adapter(operation.query).json_schema(schema_generator=_Generator)


def of_operations(operations: Iterable[Operation]) -> tuple[Mapping[SchemaKey, Json], Json]:
    """The schemas by operation id and mode, and the components that they refer to."""
    models: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = [
        ("problem", "serialization", _adapter(Problem)),
        ("event", "serialization", _adapter(EventBody)),
        ("time_credit", "serialization", _adapter(TimeCreditEventBody)),
        ("user", "serialization", _adapter(UserEventBody)),
        ("ping", "serialization", _adapter(PingBody)),
    ]
    for operation in operations:
        sent = operation.body or operation.form
        if sent is not None:
            models.append((operation.operation_id, "validation", _adapter(sent)))
        effects: Any = operation.dry_run_result
        if operation.result is not None:
            result: Any = operation.result
            if effects is not None and operation.status == 200:
                result = Union[operation.result, effects]  # noqa: UP007  # types made at run time
            models.append((operation.operation_id, "serialization", _adapter(result)))
        if effects is not None:
            name = f"{operation.operation_id}?dry_run"
            models.append((name, "serialization", _adapter(effects)))
    schemas, definitions = TypeAdapter.json_schemas(
        models, ref_template=REF, schema_generator=_Generator
    )
    values = {
        name: f"{schema['title']}Record"
        for name, schema in definitions["$defs"].items()
        if schema.pop("x-value", False)
    }
    components = _renamed(definitions["$defs"], values)
    return _renamed(dict(schemas), values), {
        name: {**schema, "title": name} for name, schema in components.items()
    }


def _renamed(schemas: dict[Any, Json], values: Mapping[str, str]) -> dict[Any, Json]:
    """`Listing_UserRecord_` as `UserRecordListing`, and values by their names for clients."""
    text = orjson.dumps([[key, schema] for key, schema in schemas.items()])
    for value, name in values.items():
        text = re.sub(rb"(?<=[/\"_])%b(?=[\"_])" % value.encode(), name.encode(), text)
    renamed = orjson.loads(_GENERIC.sub(rb"\2\1", text))
    return {tuple(key) if isinstance(key, list) else key: schema for key, schema in renamed}


class Examples:
    """Composes examples of models from those of their fields, always the same ones."""

    def __init__(self, components: Mapping[str, Json]) -> None:
        self._components = components

    def resolved(self, schema: Json) -> Json:
        """The schema, or the component that it refers to."""
        if "$ref" not in schema:
            return schema
        return self._components[schema["$ref"].rpartition("/")[2]]

    def of(self, schema: Json, name: str = "", parent: str = "") -> Any:
        """An example of a schema that is the field ``name`` of ``parent``. Raises NoExample."""
        if "examples" in schema:
            return schema["examples"][0]
        if "$ref" in schema:
            return self.of(self.resolved(schema), name, schema["$ref"].rpartition("/")[2])
        for key in ("const", "default"):
            if key in schema:
                return schema[key]
        if "enum" in schema:
            return schema["enum"][0]
        choices = [*schema.get("oneOf", ()), *schema.get("anyOf", ())]
        if choices:
            is_nullable = {"type": "null"} in choices
            return None if is_nullable else self.of(choices[0], name, parent)
        match schema.get("type"):
            case "object":
                return {
                    member: self.of(field, member, parent)
                    for member, field in schema.get("properties", {}).items()
                    if member in schema["required"]
                }
            case "array":
                return [self.of(schema["items"], name, parent)]
            case "boolean":
                return False
            case "integer" | "number":
                return schema.get("minimum", 1)
        if schema.get("format") in _EXAMPLES:
            return _EXAMPLES[schema["format"]]
        if schema == {}:
            return None
        raise NoExample(f"Give {name or 'this'} an example in {parent}: {schema}")


def published(schemas: Any) -> Any:
    """The schemas without the examples and codes of fields, of which other parts are made."""
    if isinstance(schemas, list):
        return [published(schema) for schema in schemas]
    if not isinstance(schemas, dict):
        return schemas
    return {
        name: published(schema)
        for name, schema in schemas.items()
        if name not in ("examples", "x-codes") or not isinstance(schema, list)
    }


# Fewer members are written out, for readers.
_LARGE: Final = 10


def extending(schemas: Mapping[str, Json]) -> Json:
    """The schemas; one that has all members of another large one refers to it for them."""
    large = {
        name: schema
        for name, schema in schemas.items()
        if len(schema.get("properties", ())) >= _LARGE and schema.get("additionalProperties", True)
    }
    return {name: _extending(name, schema, large) for name, schema in schemas.items()}


def _extending(name: str, schema: Json, large: Mapping[str, Json]) -> Json:
    own = schema.get("properties", {})
    bases = [
        base
        for base, other in large.items()
        if all(own.get(member) == field for member, field in other["properties"].items())
        and len(other["properties"]) < len(own)
        and {*other.get("required", ())} <= {*schema.get("required", ())}
    ]
    if not bases:
        return schema
    base = max(bases, key=lambda each: len(large[each]["properties"]))
    inherited = large[base]
    return {
        **schema,
        "allOf": [{"$ref": REF.format(model=base)}],
        "properties": {
            member: field for member, field in own.items() if member not in inherited["properties"]
        },
        "required": [
            member
            for member in schema.get("required", ())
            if member not in inherited.get("required", ())
        ],
    }


def field_codes(schema: Json, *, in_query: bool = False) -> Iterator[str]:
    """The codes of invalid fields, by the types and the schema of a body or a query."""
    if schema.get("required"):
        yield "required"
    for field in schema.get("properties", {}).values():
        if in_query and field.get("type") == "integer":
            yield "not_a_number"
        for choice in (field, field.get("items", {}), *field.get("anyOf", ())):
            yield from choice.get("x-codes", ())
            # Words with a length are checked by a rule, which has a code of its own.
            is_open = "maxLength" in choice
            if "enum" in choice and not is_open:
                yield "not_one_of"
            if "maxLength" in choice or "maxItems" in choice:
                yield "too_long"
            if "minLength" in choice:
                yield "too_short"
            if "minimum" in choice:
                yield "out_of_range"
            if choice.get("format") in _CODES:
                yield _CODES[choice["format"]]
            elif choice.get("type") == "string" and ("enum" not in choice or is_open):
                yield "contains_nul"
