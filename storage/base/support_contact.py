"""HIATUS_SUPPORT_CONTACT: where people of this deployment send questions and feedback."""

from __future__ import annotations

import re
from typing import Final

from storage.base.environment import Environment

NAME: Final = "HIATUS_SUPPORT_CONTACT"
# What is shown in Slack and in HTML has no characters that either gives a meaning.
_EMAIL: Final = re.compile(r"[^\s@<>|&\"]+@[^\s@<>|&\"]+")
_URL: Final = re.compile(r"https?://[^\s<>|\"]+")


def read(environment: Environment) -> str:
    """An e-mail address or a URL; "" without one, and after a problem."""
    contact = environment.text(NAME)
    if not contact or is_email(contact) or _URL.fullmatch(contact):
        return contact
    environment.problem(
        f"{NAME} must be an e-mail address or a URL such as https://example.com/help, "
        f"not {contact!r}."
    )
    return ""


def is_email(contact: str) -> bool:
    return _EMAIL.fullmatch(contact) is not None
