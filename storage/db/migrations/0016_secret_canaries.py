"""A known text encrypted with the secret keys, which tells a start whether the keys are right.

``hiatus serve`` and the commands write it: a migration knows no keys.
"""

from __future__ import annotations

from typing import Any

from peewee import IntegerField, Model, TextField


class SecretCanaryRow(Model):  # type: ignore[misc]
    number = IntegerField(primary_key=True)
    encrypted = TextField()

    class Meta:
        table_name = "secret_canaries"


def up(migrator: Any, db: Any) -> None:
    with db.bind_ctx([SecretCanaryRow], bind_refs=False, bind_backrefs=False):
        SecretCanaryRow.create_table(safe=False)
