"""Secrets: encryption at rest, fingerprints for look-ups, signatures of cursors."""

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

# 32 bytes in URL-safe base64, as from ``new_token``.
_TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{43}")


class Secrets:
    """The deployment's Fernet keys: the first encrypts and signs, all decrypt and verify."""

    def __init__(self, keys: Sequence[str]) -> None:
        fernets = [Fernet(key) for key in keys]
        self._first = fernets[0]
        self._fernet = MultiFernet(fernets)
        # itsdangerous takes the oldest key first and signs with the last.
        self.signing_keys = [
            hashlib.sha256(b"hiatus cursor signature\0" + key.encode()).digest()
            for key in reversed(keys)
        ]
        # As ``decrypt``, for secrets that are needed many times a second.
        self.decrypt_cached = lru_cache(maxsize=1_024)(self.decrypt)

    @classmethod
    def generate(cls) -> Secrets:
        """Secrets with a new key, for a deployment that ends with this process."""
        return cls([new_secret_key()])

    def encrypt(self, text: str) -> str:
        return self._fernet.encrypt(text.encode()).decode()

    def decrypt(self, token: str) -> str:
        """The plain text. Raises ``cryptography.fernet.InvalidToken`` when no key decrypts it."""
        return self._fernet.decrypt(token.encode()).decode()

    def decrypt_or_empty(self, encrypted: str) -> str:
        """As ``decrypt``; "" where no key decrypts it."""
        try:
            return self.decrypt(encrypted)
        except InvalidToken:
            return ""

    def is_encrypted_with_first_key(self, token: str) -> bool:
        try:
            self._first.decrypt(token.encode())
        except InvalidToken:
            return False
        return True

    def sign(self, message: bytes) -> bytes:
        """Sixteen bytes of a keyed hash that only this deployment can compute."""
        return hmac.digest(self.signing_keys[-1], message, "sha256")[:16]


def new_secret_key() -> str:
    """A Fernet key for ``HIATUS_SECRET_KEYS``."""
    return Fernet.generate_key().decode()


def is_secret_key(key: str) -> bool:
    """Whether ``key`` is a Fernet key: 32 bytes in URL-safe base64."""
    try:
        Fernet(key)
    except ValueError:
        return False
    return True


def fingerprint(secret: str) -> str:
    """SHA-256 in hex. Secrets with 256 random bits need no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def new_token() -> str:
    """32 random bytes for a URL."""
    return secrets.token_urlsafe(32)


def new_signing_secret() -> str:
    """A webhook's secret of 32 random bytes, in the form that libraries of receivers expect.

    Source: Standard Webhooks, "Symmetric signatures".
    """
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode()


def is_token(text: str) -> bool:
    """Whether the text has the form of a token from ``new_token``."""
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
