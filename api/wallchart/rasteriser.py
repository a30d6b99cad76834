"""Makes a PNG of an SVG, in a process of its own.

The library keeps the interpreter's lock while it draws, for up to a second, and takes up to 200 MB.
Run this module to draw: the SVG on its standard input, the PNG on its output.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.resources import as_file, files
from importlib.util import find_spec
from typing import Final

SECONDS: Final = 30
_PACKAGES: Final = ("resvg_py", "ttf_opensans")
# Open Sans has Latin, Greek, Cyrillic and punctuation.
_OTHER_SCRIPTS: Final = re.compile("[\u0530-\u1dff\u2123-\U0010ffff]")

# What the interpreter needs to start where its libraries are in places of their own. The settings,
# and so every secret, stay out of a process that parses people's names.
_ENVIRONMENT: Final = ("PATH", "PYTHONPATH", "PYTHONHOME", "LANG", "LD_LIBRARY_PATH")


class NotDrawn(Exception):
    """The process failed or took too long."""


def is_installed() -> bool:
    """Whether this deployment has the extra ``pictures``."""
    return all(find_spec(name) is not None for name in _PACKAGES)


def png(svg: bytes) -> bytes:
    """Blocks for as long as it takes. Raises NotDrawn."""
    try:
        # -P: the working folder is not on the path, so no file in it is run.
        drawn = subprocess.run(
            [sys.executable, "-P", "-m", __name__],
            input=svg,
            capture_output=True,
            env=_environment(),
            timeout=SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise NotDrawn(type(error).__name__) from error
    return drawn.stdout


def _environment() -> dict[str, str]:
    present = os.environ  # noqa: TID251  # only to leave most of it out
    return {name: present[name] for name in _ENVIRONMENT if name in present}


def _draw() -> None:
    from resvg_py import svg_to_bytes

    svg = sys.stdin.buffer.read().decode()
    with as_file(files("ttf_opensans") / "ttf" / "OpenSans-Regular.ttf") as font:
        drawn = svg_to_bytes(
            svg_string=svg,
            # Searching the machine for fonts takes time, and most names need none.
            skip_system_fonts=_OTHER_SCRIPTS.search(svg) is None,
            font_files=[str(font)],
            font_family="Open Sans",
            sans_serif_family="Open Sans",
        )
    sys.stdout.buffer.write(bytes(drawn))


if __name__ == "__main__":
    _draw()
