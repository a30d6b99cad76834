"""The registry of what storage, logs and the bot measure, which ``api.base.metrics`` exposes.

Each metric is declared in the module that fills it. Labels come from the code, never from requests:
each id would be a series of its own.
"""

from __future__ import annotations

from typing import Final

from prometheus_client import CollectorRegistry

REGISTRY: Final = CollectorRegistry()
