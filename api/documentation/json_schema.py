"""The type of OpenAPI's objects: what pydantic returns for a schema."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
