"""Peewee's own connection to PostgreSQL, for the migrations."""

from __future__ import annotations

from typing import Any

import peewee
import psycopg
from psycopg.pq import TransactionStatus

from storage.db.connections import connect_patiently, parameters_of


class _Adapter(peewee.Psycopg3Adapter):  # type: ignore[misc]  # the stubs make it Any
    """Peewee's adapter, and what it lacks: storage/__init__.py imports Peewee without psycopg."""

    txn_idle = TransactionStatus.IDLE
    txn_inerror = TransactionStatus.INERROR
    txn_unknown = TransactionStatus.UNKNOWN

    def get_binary_type(self) -> type:
        return psycopg.Binary


class MigrationDatabase(peewee.PostgresqlDatabase):  # type: ignore[misc]
    """Connects as the rest of Hiatus does; each statement has its time-out."""

    # The name of the adapter that Peewee takes when it knows no driver.
    psycopg2_adapter = _Adapter
    psycopg3_adapter = _Adapter

    def __init__(self, url: str, timeout_seconds: float) -> None:
        super().__init__(url)
        self._timeout_seconds = timeout_seconds

    def _connect(self) -> Any:
        parameters = parameters_of(self.database, self._timeout_seconds)
        return connect_patiently(parameters, self._timeout_seconds)
