"""API keys with their value."""

from __future__ import annotations

from typing import Annotated

from storage.base.records import About, ApiKeyRecord


class ApiKeyWithSecretRecord(ApiKeyRecord):
    """An API key with its value, shown only once."""

    api_key: Annotated[
        str, About(example="hiatus_sk_live_7Qm2xKf9LwTz4RbN8vYc1HsJ5pDgA0eU3iWq6oXtEkMZr0")
    ]
