"""API keys with their value."""

from __future__ import annotations

from storage.base.records import ApiKeyRecord


class ApiKeyWithSecretRecord(ApiKeyRecord):
    """An API key with its value, shown only once."""

    api_key: str
