"""JSON schemas of models, as the components of an OpenAPI document."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode

Json = dict[str, Any]
# An operation id or another name, and whether the model is a request's or a response's.
SchemaKey = tuple[str, JsonSchemaMode]
Model = tuple[str, JsonSchemaMode, TypeAdapter[Any]]

_REF: Final = "#/components/schemas/{model}"
_GENERIC: Final = re.compile(rb"(Listing)_(\w+?)_(?=\W|$)")


class SchemaGenerator(GenerateJsonSchema):
    """Without titles that repeat a field's name, and without null where it only means "absent"."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: Any) -> Any:
        described = super().default_schema(schema)
        if described.get("default", 0) is None:
            del described["default"]
        return described


def generate(models: Sequence[Model]) -> tuple[Mapping[SchemaKey, Json], Json]:
    """The models' schemas, and the components that they refer to."""
    schemas, definitions = TypeAdapter.json_schemas(
        models, ref_template=_REF, schema_generator=SchemaGenerator
    )
    return _renamed(dict(schemas)), {
        name: {**schema, "title": name} for name, schema in _renamed(definitions["$defs"]).items()
    }


def _renamed(schemas: dict[Any, Json]) -> dict[Any, Json]:
    """`Listing_UserRecord_` as `UserRecordListing`: generators name classes by it."""
    renamed = orjson.loads(_GENERIC.sub(rb"\2\1", orjson.dumps(list(schemas.values()))))
    names = [
        _GENERIC.sub(rb"\2\1", name.encode()).decode() if isinstance(name, str) else name
        for name in schemas
    ]
    return dict(zip(names, renamed, strict=True))
