"""What other tools make of the OpenAPI document: a linter, and generated clients."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from api.documentation import openapi
from api.service.app import OPERATIONS, OTHER_PATHS
from tests import javascript

GENERATOR = "node_modules/openapi-typescript/bin/cli.js"
COMPILER = "node_modules/typescript/bin/tsc"

PROGRAM = """
import type { components, operations } from "./hiatus";

type Event = components["schemas"]["WebhookEvent"];
export const events: components["schemas"]["NewWebhook"]["events"] = ["leave_request.approved"];
export const scope: components["schemas"]["NewApiKey"]["scopes"] = ["leave:read"];
export const code: components["schemas"]["Problem"]["code"] = "overlapping_leave";
export const days: components["schemas"]["Problem"]["remaining_days"] = 2.5;
export const status: operations["leave_requests.page"] | null = null;

export function summary(event: Event): string {
  if (event.type === "ping") return event.data.webhook_id;
  if (event.type === "user.erased") return event.data.id;
  return event.type === "leave_request.approved" ? event.data.leave_type.name : event.data.status;
}
"""


def complaints(folder: Path, program: str) -> str:
    """What the TypeScript compiler says about a program that uses the generated types."""
    (folder / "program.ts").write_text(program)
    result = javascript.node(COMPILER, "--noEmit", "--strict", str(folder / "program.ts"))
    assert result.returncode in (0, 1, 2), result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("typescript")
    document = folder / "openapi.json"
    document.write_bytes(openapi.document(OPERATIONS, OTHER_PATHS, "https://hiatus.test"))
    result = javascript.node(GENERATOR, str(document), "-o", str(folder / "hiatus.d.ts"))
    assert result.returncode == 0, result.stderr
    return folder


@pytest.mark.slow
def test_a_program_uses_the_generated_types(folder: Path) -> None:

    assert complaints(folder, PROGRAM) == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "misspelt"),
    [
        ('["leave_request.approved"]', '["leave_request.aproved"]'),
        ('=== "leave_request.approved"', '=== "leave_request.aproved"'),
        ("leave:read", "leave:reed"),
        ("overlapping_leave", "overlaping_leave"),
        ("webhook_id", "webhook"),
    ],
)
def test_the_compiler_refuses_a_misspelt_word(folder: Path, word: str, misspelt: str) -> None:
    assert "program.ts" in complaints(folder, PROGRAM.replace(word, misspelt))


SPECTRAL = "node_modules/@stoplight/spectral-cli/dist/index.js"


def findings(document: Path) -> list[tuple[str, str, Any]]:
    """Spectral's findings in a document: the rule, its message and the place."""
    options = ("--ruleset", "spectral.yaml", "--format", "json", "--quiet")
    process = javascript.node(SPECTRAL, "lint", *options, str(document))
    assert process.returncode in (0, 1), process.stderr
    return [
        (finding["code"], finding["message"], finding["path"])
        for finding in json.loads(process.stdout)
    ]


@pytest.mark.slow
def test_spectral_finds_nothing(tmp_path: Path) -> None:
    document = tmp_path / "openapi.json"
    document.write_bytes(openapi.document(OPERATIONS, OTHER_PATHS, "https://hiatus.test"))

    assert findings(document) == []


@pytest.mark.slow
def test_spectral_reports_missing_descriptions(tmp_path: Path) -> None:
    lacking = json.loads(openapi.document(OPERATIONS, OTHER_PATHS, "https://hiatus.test"))
    del lacking["paths"]["/api/v1/users"]["get"]["description"]
    del lacking["info"]["license"]
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(lacking))

    rules = {rule for rule, _, _ in findings(document)}

    assert {"info-license", "operation-description"} <= rules
