"""Keeping secrets: encryption at rest, fingerprints for look-up, signatures of cursors."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

# 32 bytes in URL-safe base64, as ``new_token`` makes them.
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}")


class Secrets:
    """The deployment's Fernet keys: the first encrypts and signs, all decrypt and verify."""

    def __init__(self, keys: Sequence[str]) -> None:
        fernets = [Fernet(key) for key in keys]
        self._first = fernets[0]
        self._fernet = MultiFernet(fernets)
        # The oldest first, as itsdangerous has it: the last one signs.
        self.signing_keys = [
            hashlib.sha256(b"hiatus cursor signature\0" + key.encode()).digest()
            for key in reversed(keys)
        ]
        # Raises what ``decrypt`` raises; for what is needed many times a second.
        self.decrypt_again = lru_cache(maxsize=1_000)(self.decrypt)

    @classmethod
    def generate(cls) -> Secrets:
        """Secrets of a fresh key, for a deployment that lives as long as this process."""
        return cls([new_secret_key()])

    def encrypt(self, text: str) -> str:
        return self._fernet.encrypt(text.encode()).decode()

    def decrypt(self, token: str) -> str:
        """The text again. Raises ``cryptography.fernet.InvalidToken`` when no key fits."""
        return self._fernet.decrypt(token.encode()).decode()

    def is_by_first_key(self, token: str) -> bool:
        """Whether the key that encrypts new texts encrypted this one."""
        try:
            self._first.decrypt(token.encode())
        except InvalidToken:
            return False
        return True

    def sign(self, message: bytes) -> bytes:
        """Sixteen bytes that only this deployment can make."""
        return hmac.digest(self.signing_keys[-1], message, "sha256")[:16]


def new_secret_key() -> str:
    """A Fernet key, as ``HIATUS_SECRET_KEYS`` takes it."""
    return Fernet.generate_key().decode()


def is_secret_key(key: str) -> bool:
    """Whether ``key`` is 32 bytes in URL-safe base64, as Fernet wants it."""
    try:
        Fernet(key)
    except ValueError:
        return False
    return True


def fingerprint(secret: str) -> str:
    """SHA-256 in hex. Enough for secrets of 256 random bits, which need no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def new_token() -> str:
    """32 random bytes for a URL."""
    return secrets.token_urlsafe(32)


def new_signing_secret() -> str:
    """A webhook's secret of 32 random bytes, in the form that receivers' libraries take.

    Source: Standard Webhooks, "Symmetric signatures".
    """
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


def is_token(text: str) -> bool:
    """Whether ``new_token`` can have made it."""
    return _TOKEN.fullmatch(text) is not None


__all__ = [
    "InvalidToken",
    "Secrets",
    "fingerprint",
    "is_secret_key",
    "is_token",
    "new_secret_key",
    "new_signing_secret",
    "new_token",
]
