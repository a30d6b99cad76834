"""`make sbom`: the packages of production with licences, and nothing of this machine."""

from __future__ import annotations

import json
import re
from importlib.metadata import version

import pytest

from api.base.version import VERSION
from tests import sbom, swagger_ui


@pytest.mark.slow
def test_the_bill_of_materials_lists_what_production_installs_and_vendors() -> None:
    made = sbom.document()

    listed = {each["name"]: each for each in made["components"]}
    assert listed["starlette"]["version"] == version("starlette")
    assert listed["swagger-ui-dist"]["version"] == swagger_ui.version()
    assert listed.keys() & {"pytest", "mypy", "pip", "hiatus"} == set()
    assert [name for name, each in listed.items() if not each.get("licenses")] == []
    assert made["metadata"]["component"]["version"] == VERSION
    text = json.dumps(made)
    assert re.findall(r"file:|pypi\.org|/site-packages|/(?:home|root|tmp|work)/", text) == []
