"""First answers, kept for a day by the caller's own key so that a repeated request changes nothing.

What an answer means is the edge's business; here it is a number, headers and bytes. The bytes are
encrypted: some answers show a secret once, and others hold what people wrote.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import orjson
from peewee import Delete, Select, Tuple, fn

from storage.base.errors import Conflict, DomainError
from storage.base.ids import new_id
from storage.base.secrets import InvalidToken
from storage.db.compiled import Param, compiled, milliseconds
from storage.db.database import DuplicateRow, Transaction
from storage.db.tables import IdempotencyKeyRow

# Contract 6.
KEPT: Final = timedelta(hours=24)


class IdempotencyKeyReused(DomainError):
    """The key came before with another request."""

    code = "idempotency_key_reused"
    title = "The idempotency key belongs to another request."

    def __init__(self) -> None:
        super().__init__(
            "This Idempotency-Key came with another path, query or body in the last 24 hours; "
            "make a new key for every new request."
        )


class IdempotencyInProgress(Conflict):
    """The first request with this key has not been answered yet."""

    code = "idempotency_in_progress"
    title = "The first request with this idempotency key is still running."

    def __init__(self) -> None:
        super().__init__("Send the same request again in a moment to get the first one's answer.")


class IdempotencyAnswerUnreadable(Conflict):
    """No key of this deployment decrypts the first answer; the request is not carried out again."""

    code = "idempotency_answer_unreadable"
    title = "The first answer to this idempotency key can no longer be read."

    def __init__(self, status: int) -> None:
        super().__init__(
            "The first request with this Idempotency-Key was answered with status {status}. The "
            "server has lost the secret key that the answer was encrypted with, and did not carry "
            "out the request a second time. Look at the current state, and make a new "
            "Idempotency-Key for a new request.",
            status=status,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """One request under its key. ``sha256`` is of everything that makes it the same request."""

    organisation_id: str
    api_key_id: str
    idempotency_key: str
    sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class KeptAnswer:
    """What was answered, ready to be sent again."""

    status: int
    headers: Sequence[tuple[bytes, bytes]]
    content: bytes


def find(tx: Transaction, claim: Claim, *, now: datetime) -> KeptAnswer | None:
    """The first answer, if there is one of the last 24 hours.

    Raises IdempotencyKeyReused or IdempotencyAnswerUnreadable.
    """
    row = tx.first(
        _row,
        organisation_id=claim.organisation_id,
        api_key_id=claim.api_key_id,
        idempotency_key=claim.idempotency_key,
    )
    if row is None:
        return None
    if row.created_at <= milliseconds(now - KEPT):
        return None
    if row.request_sha256 != claim.sha256:
        raise IdempotencyKeyReused
    headers = [(name.encode(), value.encode()) for name, value in orjson.loads(row.headers)]
    try:
        content = tx.secrets.decrypt(bytes(row.body).decode())
    except InvalidToken as error:
        raise IdempotencyAnswerUnreadable(row.status_code) from error
    return KeptAnswer(status=row.status_code, headers=headers, content=content.encode())


def begin(tx: Transaction, claim: Claim, *, now: datetime) -> KeptAnswer | None:
    """The first answer, or None for the one transaction that may now find it and ``keep`` it.

    Nobody waits: raises IdempotencyInProgress while another transaction has begun. SQLite has one
    writer at a time, so there the second simply finds the answer. Raises as ``find`` does.
    """
    if tx.engine == "postgresql":
        locked = tx.first(_try_lock, number=_lock_number(claim))
        if locked is None or not locked.is_locked:
            raise IdempotencyInProgress
    return find(tx, claim, now=now)


def keep(tx: Transaction, claim: Claim, answer: KeptAnswer, *, now: datetime) -> None:
    """Keep the first answer; call in the transaction that ``begin`` allowed."""
    headers = [(name.decode(), value.decode()) for name, value in answer.headers]
    # What is a day old may still be there; ``find`` no longer sees it.
    tx.enqueue_update(
        _forget,
        organisation_id=claim.organisation_id,
        api_key_id=claim.api_key_id,
        idempotency_key=claim.idempotency_key,
    )
    try:
        tx.insert(
            IdempotencyKeyRow,
            id=new_id(now),
            request_sha256=claim.sha256,
            status_code=answer.status,
            headers=orjson.dumps(headers).decode(),
            body=tx.secrets.encrypt(answer.content.decode()).encode(),
            created_at=now,
            organisation_id=claim.organisation_id,
            api_key_id=claim.api_key_id,
            idempotency_key=claim.idempotency_key,
        )
    except DuplicateRow as error:
        # Only where advisory locks do not reach every server of the database.
        raise IdempotencyInProgress from error


def keep_refusal(
    tx: Transaction, claim: Claim, refusal: KeptAnswer, *, now: datetime
) -> KeptAnswer | None:
    """Keep a refusal, whose own transaction was undone, unless the key has an answer by now.

    That answer then; None where the refusal is the first one. Raises IdempotencyInProgress.
    """
    found = begin(tx, claim, now=now)
    if found is None:
        keep(tx, claim, refusal, now=now)
    return found


def prune(tx: Transaction, *, now: datetime, limit: int) -> int:
    """Delete up to ``limit`` answers that are no longer replayed; how many there were."""
    return tx.change(_prune, before=now - KEPT, limit=limit)


def _lock_number(claim: Claim) -> int:
    """A signed 64-bit number, as PostgreSQL's advisory locks are named."""
    text = "\0".join(("idempotency", claim.api_key_id, claim.idempotency_key))
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


@compiled
def _row(
    organisation_id: Param[str], api_key_id: Param[str], idempotency_key: Param[str]
) -> Select:
    return IdempotencyKeyRow.select(
        IdempotencyKeyRow.request_sha256,
        IdempotencyKeyRow.status_code,
        IdempotencyKeyRow.headers,
        IdempotencyKeyRow.body,
        IdempotencyKeyRow.created_at,
    ).where(
        IdempotencyKeyRow.organisation_id == organisation_id,
        IdempotencyKeyRow.api_key_id == api_key_id,
        IdempotencyKeyRow.idempotency_key == idempotency_key,
    )


@compiled
def _try_lock(number: Param[int]) -> Select:
    return Select(columns=[fn.pg_try_advisory_xact_lock(number).alias("is_locked")])


@compiled
def _forget(
    organisation_id: Param[str], api_key_id: Param[str], idempotency_key: Param[str]
) -> Delete:
    return IdempotencyKeyRow.delete().where(
        IdempotencyKeyRow.organisation_id == organisation_id,
        IdempotencyKeyRow.api_key_id == api_key_id,
        IdempotencyKeyRow.idempotency_key == idempotency_key,
    )


@compiled
def _prune(before: Param[datetime], limit: Param[int]) -> Delete:
    old = (
        IdempotencyKeyRow.select(IdempotencyKeyRow.organisation_id, IdempotencyKeyRow.id)
        .where(IdempotencyKeyRow.created_at <= before)
        .limit(limit)
    )
    row = Tuple(IdempotencyKeyRow.organisation_id, IdempotencyKeyRow.id)
    return IdempotencyKeyRow.delete().where(row.in_(old))
