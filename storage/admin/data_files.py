"""Everything that is kept about a person as a file for them, or as a link to it that works once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import orjson

from storage.admin import data_export
from storage.base.secrets import Secrets
from storage.base.values import Caller, record
from storage.db.database import Transaction
from storage.keys import single_use_links

PATH: Final = "/my-data/"
_JSON_OPTIONS: Final = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC | orjson.OPT_INDENT_2


@dataclass(frozen=True, kw_only=True, slots=True)
class DataFile:
    """``name`` has nothing of the person: it is seen in lists of downloads."""

    name: str
    content: bytes


def of_caller(tx: Transaction, *, by: Caller, now: datetime) -> DataFile:
    data = data_export.export(tx, str(by.user_id), by=by, now=now)
    content = orjson.dumps(record(data), option=_JSON_OPTIONS)
    return DataFile(name=f"hiatus-my-data-{now:%Y-%m-%d}.json", content=content)


def url(base_url: str, secrets: Secrets, *, by: Caller, now: datetime) -> str:
    """A link for this person, valid for a day."""
    return f"{base_url}{PATH}{single_use_links.token(secrets, 'personal data', (), by=by, now=now)}"


def open_once(tx: Transaction, token: str, *, now: datetime) -> Caller | None:
    """Whose link it is, the first time; None if it was used, has expired or was never made."""
    used = single_use_links.use(tx, "personal data", token, now=now)
    return None if used is None else used.by
