"""Examples of models, composed from the examples of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Json = dict[str, Any]

_REF_START: Final = "#/components/schemas/"
_BY_FORMAT: Final = {
    "uuid": "0197c2a4-9d20-7e66-8a31-50fb7c2d4e12",
    "date": "2026-08-03",
    "date-time": "2026-06-15T09:30:00.412000Z",
    "email": "ada@example.com",
    "uri": "https://example.com/hooks/leave",
}


class NoExample(Exception):
    """A text has no example; its model needs one."""


class Examples:
    """Composes examples of the document's models; the same schema always gives the same one."""

    def __init__(self, components: Mapping[str, Json]) -> None:
        self._components = components
        self._of_model: dict[str, Json] = {}

    def of_model(self, name: str) -> Json:
        """An example of ``#/components/schemas/<name>``. Raises NoExample."""
        if name not in self._of_model:
            self._of_model[name] = self._of_object(self._components[name], name)
        return self._of_model[name]

    def of(self, schema: Json, name: str, parent: str) -> Any:
        """An example of a schema that is the field ``name`` of ``parent``. Raises NoExample."""
        if "examples" in schema:
            return schema["examples"][0]
        if "$ref" in schema:
            return self.of_model(schema["$ref"].removeprefix(_REF_START))
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
            case "object" if "properties" in schema:
                return self._of_object(schema, parent)
            case "object":
                return {}
            case "array":
                return [self.of(schema["items"], name, parent)]
            case "boolean":
                return False
            case "integer" | "number":
                return schema.get("minimum", 1)
        if schema.get("format") in _BY_FORMAT:
            return _BY_FORMAT[schema["format"]]
        if schema == {}:
            return None
        raise NoExample(f"Give {name or 'this'} an example in {parent}: {schema}")

    def _of_object(self, schema: Json, parent: str) -> Json:
        return {
            name: self.of(field, name, parent)
            for name, field in schema["properties"].items()
            if name in schema["required"]
        }
