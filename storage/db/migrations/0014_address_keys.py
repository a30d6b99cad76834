"""Addresses compared by Unicode's compatibility form, too. Released: never edit this file.

A person whose new key belongs to another person of the organisation already keeps the old one:
both stay as they are, and `hiatus doctor` names them.
"""

from __future__ import annotations

import unicodedata
from typing import Any

import peewee

COMPATIBLE_FROM = 1


def up(migrator: Any, db: Any) -> None:
    users = peewee.Table(
        "users", ("organisation_id", "id", "email", "email_key", "status"), primary_key=False
    ).bind(db)
    columns = (users.organisation_id, users.id, users.email, users.email_key, users.status)
    # By age: of two people with equal addresses the older one gets the key.
    people = list(users.select(*columns).order_by(users.organisation_id, users.id).tuples())
    taken = {(person[0], person[3]) for person in people if person[4] != "archived"}
    for organisation_id, user_id, email, old_key, status in people:
        folded = unicodedata.normalize("NFKC", email).casefold()
        key = unicodedata.normalize("NFKC", folded)
        if email.isascii() or key == old_key:
            continue
        if status != "archived":
            if (organisation_id, key) in taken:
                continue
            taken.add((organisation_id, key))
        users.update(email_key=key).where(
            (users.organisation_id == organisation_id) & (users.id == user_id)
        ).execute()
