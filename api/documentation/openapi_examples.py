"""Examples for the documentation, composed from schemas and ``openapi_vocabulary``.

A value is looked up by the name of its field, so a new model of known fields needs no own values. A
text without a value raises NoExample, which names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from api.documentation.openapi_model_values import OF_MODEL, OF_PARAMETER, OF_RESPONSE
from api.documentation.openapi_schemas import Json
from api.documentation.openapi_vocabulary import BY_FIELD, BY_FORMAT, OTHER, REQUEST

_REF_START: Final = "#/components/schemas/"


class NoExample(Exception):
    """The vocabulary has no value for a field."""


class Examples:
    """Composes examples of the document's models; the same schema always gives the same one."""

    def __init__(self, components: Mapping[str, Json]) -> None:
        self._components = components
        self._of_model: dict[str, Json] = {}

    def of_model(self, name: str) -> Json:
        """An example of ``#/components/schemas/<name>``. Raises NoExample."""
        if name not in self._of_model:
            schema = self._components[name]
            self._of_model[name] = self._of_object(schema, name, OF_MODEL.get(name, {}))
        return self._of_model[name]

    def of_response(self, operation_id: str, schema: Json) -> object:
        """A response of the operation. Raises NoExample."""
        example = self.of(schema, "", operation_id)
        special = OF_RESPONSE.get(operation_id)
        return {**example, **special} if special and isinstance(example, dict) else example

    def of(self, schema: Json, name: str, parent: str) -> object:
        """An example of a schema that is the field ``name`` of ``parent``. Raises NoExample."""
        if "$ref" in schema:
            return self.of_model(schema["$ref"].removeprefix(_REF_START))
        if "examples" in schema:
            return schema["examples"][0]
        if name in BY_FIELD and _fits(BY_FIELD[name], schema):
            return BY_FIELD[name]
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        for choice in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
            return self.of(choice, name, parent)
        match schema.get("type"):
            case "object" if "properties" in schema:
                return self._of_object(schema, parent, {})
            case "array":
                return [self.of(schema["items"], name, parent)]
            case "boolean":
                return False
            case "integer" | "number":
                return schema.get("minimum", 1)
        if schema.get("format") in BY_FORMAT:
            return BY_FORMAT[schema["format"]]
        raise NoExample(
            f"Say in openapi_vocabulary.py what {name or 'this'} looks like in {parent}: {schema}"
        )

    def of_parameter(self, operation_id: str, parameter: Json) -> object:
        """A plausible value. Raises NoExample."""
        name, schema = parameter["name"], parameter["schema"]
        special = OF_PARAMETER.get((operation_id, name))
        if special is not None:
            return special
        if parameter["in"] == "path" and schema.get("format") == "uuid":
            return REQUEST if operation_id.startswith(("leave", "approvals")) else OTHER
        return self.of(schema, name, operation_id)

    def _of_object(self, schema: Json, parent: str, special: Json) -> Json:
        return {
            name: special[name] if name in special else self.of(field, name, parent)
            for name, field in schema["properties"].items()
            if name in schema["required"]
        }


def _fits(value: object, schema: Json) -> bool:
    """Whether the value is of the schema's type: equal names differ between models."""
    choices = [schema, *schema.get("anyOf", ())]
    if value is None:
        return {"type": "null"} in choices
    if isinstance(value, str):
        return any(
            value in choice["enum"] if "enum" in choice else choice.get("type") == "string"
            for choice in choices
        )
    kinds = {bool: "boolean", int: "integer", float: "number", list: "array"}
    types = {kinds[type(value)], "number"} if type(value) is int else {kinds[type(value)]}
    return any(choice.get("type") in types for choice in choices)
