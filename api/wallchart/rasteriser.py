"""Makes a PNG of an SVG, in a process of its own.

The library keeps the interpreter's lock while it draws, for up to a second, and takes up to 200 MB.
Run this module to draw: the SVG on its standard input, the PNG on its output.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.resources import as_file, files
from typing import Final

SECONDS: Final = 30


class NotDrawn(Exception):
    """The process failed or took too long."""


def png(svg: bytes) -> bytes:
    """Blocks for as long as it takes. Raises NotDrawn."""
    try:
        # -P: the working folder is not on the path, so no file in it is run.
        drawn = subprocess.run(
            [sys.executable, "-P", "-m", __name__],
            input=svg,
            capture_output=True,
            timeout=SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise NotDrawn(type(error).__name__) from error
    return drawn.stdout


def _draw() -> None:
    from resvg_py import svg_to_bytes

    with as_file(files("ttf_opensans") / "ttf" / "OpenSans-Regular.ttf") as font:
        drawn = svg_to_bytes(
            svg_string=sys.stdin.buffer.read().decode(),
            # The same everywhere, and no search for fonts.
            skip_system_fonts=True,
            font_files=[str(font)],
            font_family="Open Sans",
            sans_serif_family="Open Sans",
        )
    sys.stdout.buffer.write(bytes(drawn))


if __name__ == "__main__":
    _draw()
