"""Reads settings from environment variables, for all packages."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar, cast

Word = TypeVar("Word", bound=str)

_SWITCH: Final = {
    "on": True,
    "true": True,
    "yes": True,
    "1": True,
    "off": False,
    "false": False,
    "no": False,
    "0": False,
}


class SettingsError(Exception):
    """Settings that are missing or malformed; ``problems`` has a sentence for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = tuple(problems)


class Environment:
    """Reads settings and collects all problems, which ``check`` raises together.

    An empty value counts as missing.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self.problems: list[str] = []

    def text(self, name: str, default: str = "") -> str:
        """The stripped value; ``default`` if it is missing."""
        return self._values.get(name, "").strip() or default

    def secret(self, name: str) -> str:
        """The value of ``name``, or the content of the file in ``name_FILE``; "" without both."""
        value, path = self.text(name), self.text(f"{name}_FILE")
        if not path:
            return value
        if value:
            self.problem(f"{name} and {name}_FILE are both set; keep one of them.")
            return value
        try:
            value = Path(path).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not text"
            self.problem(f"{name}_FILE names {path}, which cannot be read: {reason}.")
            return ""
        if not value:
            self.problem(f"{name}_FILE names {path}, which is empty.")
        return value

    def secret_path(self, name: str) -> Path | None:
        """The file of ``name_FILE``; None if it is missing or ``name`` itself has a value."""
        path = self.text(f"{name}_FILE")
        return Path(path) if path and not self.text(name) else None

    def switch(self, name: str, *, default: bool) -> bool:
        """``on`` or ``off``, also true, yes, 1, false, no and 0."""
        text = self.text(name).lower()
        if text and text not in _SWITCH:
            self.problem(f"{name} must be on or off, not {text!r}.")
        return _SWITCH.get(text, default)

    def one_of(self, name: str, words: Sequence[Word], default: Word) -> Word:
        """One of a few words."""
        text = self.text(name, default)
        if text not in words:
            self.problem(f"{name} must be one of {', '.join(words)}, not {text!r}.")
            return default
        return cast(Word, text)

    def seconds(self, name: str, default: float, *, least: float, most: float) -> float:
        """A number of seconds within bounds."""
        text = self.text(name, str(default))
        try:
            seconds = float(text)
        except ValueError:
            seconds = math.nan
        if not least <= seconds <= most:
            self.problem(
                f"{name} must be a number of seconds from {least:g} to {most:g}, not {text!r}."
            )
            return default
        return seconds

    def whole_number(self, name: str, default: int, *, least: int, most: int) -> int:
        """A whole number within bounds."""
        text = self.text(name, str(default))
        # Digits only: int() would also take 1_000, and digits of other scripts.
        number = int(text) if re.fullmatch("[0-9]{1,9}", text) else -1
        if not least <= number <= most:
            self.problem(f"{name} must be a whole number from {least} to {most}, not {text!r}.")
            return default
        return number

    def problem(self, sentence: str) -> None:
        """Add a problem; the sentence names the setting and contains no secret."""
        self.problems.append(sentence)

    def check(self) -> None:
        """Raises SettingsError if there are problems."""
        if self.problems:
            raise SettingsError(self.problems)
