"""The step of a wheel's build that writes the commit into it. Only setuptools imports it."""

from __future__ import annotations

import os
import runpy
from pathlib import Path

from setuptools.command.build_py import build_py

# The container build has no .git: it gives the commit in this variable.
_VARIABLE = "HIATUS_COMMIT"


class BuildPy(build_py):  # type: ignore[misc]  # setuptools has no types
    """Copies the modules and adds the commit, in a file beside ``version.py``."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            # The checkout says it itself.
            return
        version = runpy.run_path(str(Path(__file__).with_name("version.py")))
        given = os.environ.get(_VARIABLE, "")  # noqa: TID251  # a build has no settings
        commit = given or version["commit"]()
        folder = Path(self.build_lib) / "api" / "base"
        (folder / version["COMMIT_FILE"]).write_text(f"{commit}\n", encoding="utf-8")
