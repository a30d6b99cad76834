"""Makes the Bruno collection of clients/bruno from the OpenAPI document: `make bruno`.

The format: https://docs.usebruno.com/bru-lang/tag-reference.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any, Final

from api.documentation import openapi
from api.service.app import OPERATIONS, OTHER_PATHS

FOLDER: Final = Path(__file__).parents[1] / "clients/bruno"
_BASE_URL: Final = "http://127.0.0.1:8000"
_FIXED: Final = {
    "bruno.json": '{\n  "version": "1",\n  "name": "Hiatus",\n  "type": "collection"\n}\n',
    "collection.bru": "auth {\n  mode: bearer\n}\n\nauth:bearer {\n  token: {{api_key}}\n}\n",
    "environments/Local.bru": f"vars {{\n  base_url: {_BASE_URL}\n}}\n\n"
    "vars:secret [\n  api_key\n]\n",
    # What "Import a CSV file" sends.
    "people.csv": "email,name\nada@example.com,Ada Lovelace\n",
}
Json = dict[str, Any]


def files() -> dict[str, str]:
    """The collection's files by their paths in it."""
    document = json.loads(openapi.document(OPERATIONS, OTHER_PATHS, _BASE_URL))
    found = dict(_FIXED)
    counts: dict[str, int] = {}
    for path, methods in document["paths"].items():
        if not path.startswith("/api/v1/"):
            continue
        for method, operation in methods.items():
            tag = operation["tags"][0]
            counts[tag] = counts.get(tag, 0) + 1
            name = re.sub(r"[^\w -]", "", operation["summary"])
            file = f"{tag}/{name}.bru"
            assert file not in found, f"Two operations have the summary {name} in {tag}."
            found[file] = _request(path, method, operation, counts[tag], document)
    return found


def _request(path: str, method: str, operation: Json, number: int, document: Json) -> str:
    parameters = [_resolved(each, document) for each in operation["parameters"]]
    values = {
        place: {each["name"]: _text(each["example"]) for each in parameters if each["in"] == place}
        for place in ("path", "query", "header")
    }
    content = operation.get("requestBody", {}).get("content", {})
    body = _example(content["application/json"]) if "application/json" in content else None
    url = "{{base_url}}" + re.sub(r"\{(\w+)\}", r":\1", path)
    is_form = "multipart/form-data" in content
    kind = "multipartForm" if is_form else "none" if body is None else "json"
    blocks = [
        _block("meta", {"name": operation["summary"], "type": "http", "seq": str(number)}),
        _block(method, {"url": url, "body": kind, "auth": "inherit"}),
    ]
    # A tilde disables: only what is needed is sent.
    optional = {f"~{name}": value for name, value in values["query"].items()}
    headers = {f"~{name}": value for name, value in values["header"].items()}
    for heading, entries in (
        ("params:query", optional),
        ("params:path", values["path"]),
        ("headers", headers),
    ):
        if entries:
            blocks.append(_block(heading, entries))
    if is_form:
        blocks.append(_indented("body:multipart-form", "file: @file(people.csv)"))
    if body is not None:
        blocks.append(_indented("body:json", json.dumps(body, indent=2, ensure_ascii=False)))
    blocks.append(_indented("docs", operation["description"]))
    return "\n".join(blocks)


def _block(heading: str, entries: dict[str, str]) -> str:
    lines = "".join(f"  {name}: {value}\n" for name, value in entries.items())
    return f"{heading} {{\n{lines}}}\n"


def _indented(heading: str, text: str) -> str:
    lines = "".join(f"  {line}".rstrip() + "\n" for line in text.splitlines())
    return f"{heading} {{\n{lines}}}\n"


def _text(example: object) -> str:
    if isinstance(example, list):
        return ",".join(map(str, example))
    return example if isinstance(example, str) else json.dumps(example)


def _example(media: Json) -> Any:
    if "example" in media:
        return media["example"] or {}
    return next(iter(media["examples"].values()))["value"]


def _resolved(part: Json, document: Json) -> Json:
    if "$ref" not in part:
        return part
    _, section, name = part["$ref"].removeprefix("#/").split("/")
    resolved: Json = document["components"][section][name]
    return resolved


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    for name, text in files().items():
        file = FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
