"""The version of Hiatus, which pyproject.toml reads from here."""

from typing import Final

VERSION: Final = "1.0.0"
