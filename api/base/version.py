"""The version of Hiatus; pyproject.toml reads it here, so it is known without an installation."""

from typing import Final

VERSION: Final = "0.1.0"
