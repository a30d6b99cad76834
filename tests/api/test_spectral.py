from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from api.documentation import openapi
from api.service.app import OPERATIONS, OTHER_PATHS
from tests import javascript

SPECTRAL = "node_modules/@stoplight/spectral-cli/dist/index.js"


def complaints(document: Path) -> list[tuple[str, str, Any]]:
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

    assert complaints(document) == []


@pytest.mark.slow
def test_spectral_reports_missing_descriptions(tmp_path: Path) -> None:
    lacking = json.loads(openapi.document(OPERATIONS, OTHER_PATHS, "https://hiatus.test"))
    del lacking["paths"]["/api/v1/users"]["get"]["description"]
    del lacking["info"]["license"]
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(lacking))

    rules = {rule for rule, _, _ in complaints(document)}

    assert {"info-license", "operation-description"} <= rules
