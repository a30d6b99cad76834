"""Reads settings from environment variables, for all packages."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence, Set
from difflib import get_close_matches
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


_PREFIX: Final = "HIATUS_"
# What Kubernetes sets for each service, such as one that is called hiatus or hiatus-web.
_OF_KUBERNETES: Final = re.compile(
    r"HIATUS_(\w+_)?(SERVICE_(HOST|PORT)\w*=.*|PORT\w*=[a-z]+://.*|PORT_\d+_[A-Z]+_[A-Z]+=.*)"
)
_MAX_UNKNOWN: Final = 20
_DAYS: Final = re.compile(r"[0-9]{1,6}")


class SettingsError(Exception):
    """Settings that are missing or malformed; ``problems`` has a sentence for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = tuple(problems)


class Environment:
    """Reads settings and collects all problems, which ``check`` raises together.

    An empty value counts as missing. ``names`` has every variable that was read, set or not.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self.problems: list[str] = []
        self.names: set[str] = set()

    def text(self, name: str, default: str = "") -> str:
        """The stripped value; ``default`` if it is missing."""
        self.names.add(name)
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
        text = self.text(name, default)
        if text not in words:
            self.problem(f"{name} must be one of {', '.join(words)}, not {text!r}.")
            return default
        return cast(Word, text)

    def seconds(self, name: str, default: float, *, least: float, most: float) -> float:
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

    def days(self, name: str, default: int, *, least: int, most: int) -> int:
        text = self.text(name, str(default))
        days = int(text) if _DAYS.fullmatch(text) else -1
        if not least <= days <= most:
            self.problem(
                f"{name} must be a whole number of days from {least} to {most}, not {text!r}."
            )
            return default
        return days

    def problem(self, sentence: str) -> None:
        """Add a problem; the sentence names the setting and contains no secret."""
        self.problems.append(sentence)

    def check(self) -> None:
        """Raises SettingsError if there are problems."""
        if self.problems:
            raise SettingsError(self.problems)


def unknown_settings(values: Mapping[str, str], names: Set[str]) -> list[str]:
    """A sentence for each variable that is named like a setting and is none of these ``names``.

    Values are secret; they are not shown.
    """
    unknown = sorted(
        name
        for name, value in values.items()
        if name.upper().startswith(_PREFIX) and name not in names and value.strip()
        if not _OF_KUBERNETES.fullmatch(f"{name}={value}")
    )
    sentences = [_unknown(name, names) for name in unknown[:_MAX_UNKNOWN]]
    more = len(unknown) - len(sentences)
    return [*sentences, f"{more} more settings are unknown."] if more else sentences


def _unknown(name: str, names: Set[str]) -> str:
    # Without the prefix, which would make all names alike.
    by_end = {known.removeprefix(_PREFIX): known for known in sorted(names)}
    close = get_close_matches(name.upper().removeprefix(_PREFIX), by_end, n=1, cutoff=0.7)
    hint = f" Did you mean {by_end[close[0]]}?" if close else ""
    return f"There is no setting {ascii(name)[1:-1][:100]}: the variable is ignored.{hint}"


_SUPPORT_CONTACT: Final = "HIATUS_SUPPORT_CONTACT"
# What is shown in Slack and in HTML has no characters that either gives a meaning.
_CONTACT_EMAIL: Final = re.compile(r"[^\s@<>|&\"]+@[^\s@<>|&\"]+")
_CONTACT_URL: Final = re.compile(r"https?://[^\s<>|\"]+")


def read_support_contact(environment: Environment) -> str:
    """An e-mail address or a URL; "" without one, and after a problem."""
    contact = environment.text(_SUPPORT_CONTACT)
    if not contact or is_email_contact(contact) or _CONTACT_URL.fullmatch(contact):
        return contact
    environment.problem(
        f"{_SUPPORT_CONTACT} must be an e-mail address or a URL such as https://example.com/help, "
        f"not {contact!r}."
    )
    return ""


def is_email_contact(contact: str) -> bool:
    return _CONTACT_EMAIL.fullmatch(contact) is not None
