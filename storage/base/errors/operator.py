"""Errors for the operator, or for callers who may try again: nothing is wrong with the request."""

from __future__ import annotations

from typing import Literal, TypeAlias

# Why the database did not respond, in metrics and logs.
FailureKind: TypeAlias = Literal[
    "closed",
    "connection_lost",
    "corrupt",
    "deadlock",
    "disk_full",
    "input_output",
    "locked",
    "no_thread",
    "other",
    "read_only",
    "serialization",
    "timeout",
    "too_many_connections",
]


class SchemaOutOfDate(Exception):
    """The database's schema is not the one that this version needs."""


class SchemaTooNew(SchemaOutOfDate):
    """A newer version has changed the schema so that this version cannot use it."""


class SecretKeysUnusable(Exception):
    """The secret keys cannot decrypt the secrets in the database."""

    def __init__(self) -> None:
        super().__init__(
            "The secret keys (HIATUS_SECRET_KEYS, or the key file beside an SQLite database) "
            "cannot decrypt the secrets in this database. Set the keys that it was last used "
            "with: the current key first, older keys after it, comma-separated. If they are "
            "lost for good, run `hiatus secrets reencrypt --accept-loss` with a new key."
        )


class DatabaseUnavailable(Exception):
    """The database did not respond; nothing has changed, and a retry may work."""

    def __init__(self, message: str = "", *, kind: FailureKind = "other") -> None:
        super().__init__(message)
        self.kind = kind


class OutcomeUnknown(DatabaseUnavailable):
    """The connection was lost during COMMIT: the change may or may not have been saved."""
