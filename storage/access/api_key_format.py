"""The format of API keys: a prefix, 32 random bytes in base62 and a checksum."""

from __future__ import annotations

import secrets
import zlib
from typing import Final

PREFIX: Final = "hiatus_sk_live_"

# 62 ** 43 is the first power above 2 ** 256, 62 ** 6 the first above 2 ** 32.
_SECRET_CHARACTERS: Final = 43
_CHECKSUM_CHARACTERS: Final = 6
_KEY_CHARACTERS: Final = len(PREFIX) + _SECRET_CHARACTERS + _CHECKSUM_CHARACTERS
SHOWN_CHARACTERS: Final = len(PREFIX) + 6
_BASE62: Final = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def new_key() -> str:
    """A random key; the checksum is that of the base62 characters."""
    return of_bytes(secrets.token_bytes(32))


def of_bytes(secret_bytes: bytes) -> str:
    """The key of 32 secret bytes."""
    secret = _base62(int.from_bytes(secret_bytes, "big"), _SECRET_CHARACTERS)
    return PREFIX + secret + _checksum(secret)


def is_well_formed(key: str) -> bool:
    """Whether the length, prefix and checksum of ``key`` are right, without a query."""
    if len(key) != _KEY_CHARACTERS or not key.startswith(PREFIX) or not key.isascii():
        return False
    secret = key[len(PREFIX) : -_CHECKSUM_CHARACTERS]
    return key[-_CHECKSUM_CHARACTERS:] == _checksum(secret)


def _checksum(secret: str) -> str:
    return _base62(zlib.crc32(secret.encode()), _CHECKSUM_CHARACTERS)


def _base62(number: int, width: int) -> str:
    digits = []
    for _ in range(width):
        number, digit = divmod(number, 62)
        digits.append(_BASE62[digit])
    return "".join(reversed(digits))
