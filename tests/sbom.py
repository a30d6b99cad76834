"""The bill of materials of what production installs: `make sbom` writes it as CycloneDX.

It is made of the installed packages that requirements.txt locks, and of what the repository
vendors. It names no package index and no path of the machine.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.utils import canonicalize_name

from api.base.version import VERSION, commit
from tests import swagger_ui

ROOT: Final = Path(__file__).parent.parent
FILE: Final = "sbom.cdx.json"
_ROOT_REF: Final = "root-component"
# Their licence is a file, not a word of their metadata.
_LICENCES: Final = {"peewee": "MIT", "resvg-py": "MIT"}
_INDEX: Final = re.compile(r"pypi\.org|pythonhosted|^file:")


def document() -> dict[str, Any]:
    """The document, checked against CycloneDX's schema. Raises ValueError if it does not fit."""
    command = [
        *(sys.executable, "-m", "cyclonedx_py", "environment", "--short-PURLs"),
        *("--output-reproducible", "--pyproject", str(ROOT / "pyproject.toml"), sys.executable),
    ]
    made = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    components = [
        each for each in made["components"] if canonicalize_name(each["name"]) in locked()
    ]
    for each in components:
        name = canonicalize_name(each["name"])
        if "licenses" not in each and name in _LICENCES:
            each["licenses"] = [{"license": {"id": _LICENCES[name]}}]
    components.append(_swagger_ui())
    refs = {_ROOT_REF, *(each["bom-ref"] for each in components)}
    dependencies = [
        {**each, "dependsOn": [ref for ref in each.get("dependsOn", ()) if ref in refs]}
        for each in made["dependencies"]
        if each["ref"] in refs
    ]
    for each in dependencies:
        if each["ref"] == _ROOT_REF:
            each["dependsOn"].append(components[-1]["bom-ref"])
    dependencies.append({"ref": components[-1]["bom-ref"], "dependsOn": []})
    metadata = made["metadata"]
    metadata["component"] |= {"version": VERSION, "purl": f"pkg:generic/hiatus@{VERSION}"}
    metadata["component"]["properties"] = [{"name": "hiatus:commit", "value": commit()}]
    for each in (*components, *metadata["tools"]["components"]):
        _without_index(each)
    made |= {"components": components, "dependencies": dependencies}
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(made))
    if error is not None:
        raise ValueError(str(error))
    return dict(made)


def locked() -> set[str]:
    """The names of the packages that requirements.txt locks."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    names = re.findall(r"^([\w.-]+)(?:\[[\w,]+\])?==", lines, re.MULTILINE)
    return {canonicalize_name(name) for name in names}


def _swagger_ui() -> dict[str, Any]:
    version = swagger_ui.version()
    purl = f"pkg:npm/swagger-ui-dist@{version}"
    return {
        "bom-ref": purl,
        "type": "library",
        "name": "swagger-ui-dist",
        "version": version,
        "purl": purl,
        "licenses": [{"license": {"id": "Apache-2.0"}}],
    }


def _without_index(component: dict[str, Any]) -> None:
    references = component.pop("externalReferences", [])
    if kept := [each for each in references if not _INDEX.search(each["url"])]:
        component["externalReferences"] = kept


if __name__ == "__main__":
    path = Path(sys.argv[1] if len(sys.argv) > 1 else FILE)
    path.write_text(f"{json.dumps(document(), indent=2, sort_keys=True)}\n", encoding="utf-8")
    sys.stdout.write(f"{path}\n")
