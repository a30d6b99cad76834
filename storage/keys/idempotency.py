"""Stored responses of idempotent requests, replayed for 24 hours.

Here a response is a status, headers and bytes. The bytes are encrypted: some responses show a
secret once, others contain personal data.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import orjson
from peewee import Select, fn

from storage.base import retention
from storage.base.errors import Conflict, DomainError, Sentence
from storage.base.ids import new_id
from storage.base.secrets import InvalidToken
from storage.db.compiled import Param, compiled, milliseconds
from storage.db.database import DuplicateRow, Transaction
from storage.db.tables import IdempotencyKeyRow


class IdempotencyKeyReused(DomainError):
    """The `Idempotency-Key` was used in the last 24 hours for a request with another path, query or
    body.
    """

    code = "idempotency_key_reused"
    title = "The idempotency key belongs to another request."
    cure = "Use a new key for every new request, and the same key only to retry it."
    sentence = Sentence(
        "This Idempotency-Key came with another path, query or body in the last 24 hours; "
        "make a new key for every new request."
    )


class IdempotencyInProgress(Conflict):
    """The first request with this `Idempotency-Key` is still being carried out."""

    code = "idempotency_in_progress"
    title = "The first request with this idempotency key is still running."
    cure = (
        "Wait for the seconds in `Retry-After` and send the same request again: you get the first "
        "response."
    )
    sentence = Sentence("Send the same request again in a moment to get the first one's answer.")


class IdempotencyAnswerUnreadable(Conflict):
    """The request was sent before with this `Idempotency-Key`, and answered with the status that
    `detail` names. The server has lost the secret key that the response was encrypted with, and
    the operator accepted the loss. The request was not carried out a second time.
    """

    code = "idempotency_answer_unreadable"
    title = "The first answer to this idempotency key can no longer be read."
    cure = "Check the current state. Use a new key for a new request."
    example = (201,)

    def __init__(self, status: int) -> None:
        super().__init__(
            "The first request with this Idempotency-Key was answered with status {status}. The "
            "server has lost the secret key that the answer was encrypted with, and did not carry "
            "out the request a second time. Look at the current state, and make a new "
            "Idempotency-Key for a new request.",
            status=status,
        )


class IdempotencyAnswerErased(Conflict):
    """The request was sent before with this `Idempotency-Key`, and answered with the status that
    `detail` names. The response was deleted when a person was erased, because it may have named
    them. The request was not carried out a second time.
    """

    code = "idempotency_answer_erased"
    title = "The first answer to this idempotency key was deleted."
    cure = "Check the current state. Use a new key for a new request."
    example = (201,)

    def __init__(self, status: int) -> None:
        super().__init__(
            "The first request with this Idempotency-Key was answered with status {status}. The "
            "answer was deleted when a person was erased. Look at the current state, and make a "
            "new Idempotency-Key for a new request.",
            status=status,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """A request and its key. ``sha256`` covers everything that identifies the request."""

    organisation_id: str
    api_key_id: str
    idempotency_key: str
    sha256: str


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredResponse:
    status: int
    headers: Sequence[tuple[bytes, bytes]]
    content: bytes


def find(tx: Transaction, claim: Claim, *, now: datetime) -> StoredResponse | None:
    """The stored response, if it is not older than 24 hours.

    Raises IdempotencyKeyReused, IdempotencyAnswerUnreadable or IdempotencyAnswerErased.
    """
    row = tx.find(IdempotencyKeyRow, **_key(claim))
    if row is None:
        return None
    if row.created_at <= milliseconds(now - retention.STORED_RESPONSES):
        return None
    if row.request_sha256 != claim.sha256:
        raise IdempotencyKeyReused
    headers = [(name.encode(), value.encode()) for name, value in orjson.loads(row.headers)]
    if not row.body:
        raise IdempotencyAnswerErased(row.status_code)
    try:
        content = tx.secrets.decrypt(bytes(row.body).decode())
    except InvalidToken as error:
        raise IdempotencyAnswerUnreadable(row.status_code) from error
    return StoredResponse(status=row.status_code, headers=headers, content=content.encode())


def begin(tx: Transaction, claim: Claim, *, now: datetime) -> StoredResponse | None:
    """The stored response, or None if this transaction is to carry out the request and ``store``.

    Never blocks: raises IdempotencyInProgress while another transaction carries it out. SQLite has
    one writer at a time, so the second transaction finds the response. Raises as ``find`` does.
    """
    if tx.engine == "postgresql":
        locked = tx.first(_try_lock, number=_lock_number(claim))
        if locked is None or not locked.is_locked:
            raise IdempotencyInProgress
    return find(tx, claim, now=now)


def store(tx: Transaction, claim: Claim, response: StoredResponse, *, now: datetime) -> None:
    """Store the response, in the same transaction as ``begin``."""
    headers = [(name.decode(), value.decode()) for name, value in response.headers]
    # An expired response may still be there; ``find`` ignores it.
    tx.delete(IdempotencyKeyRow, **_key(claim))
    try:
        tx.insert(
            IdempotencyKeyRow,
            id=new_id(now),
            request_sha256=claim.sha256,
            status_code=response.status,
            headers=orjson.dumps(headers).decode(),
            body=tx.secrets.encrypt(response.content.decode()).encode(),
            created_at=now,
            **_key(claim),
        )
    except DuplicateRow as error:
        # Only if advisory locks do not reach every server of the database.
        raise IdempotencyInProgress from error


def store_error(
    tx: Transaction, claim: Claim, error: StoredResponse, *, now: datetime
) -> StoredResponse | None:
    """Store the error response of a transaction that was rolled back.

    Returns None, or the response that was stored meanwhile. Raises IdempotencyInProgress.
    """
    stored = begin(tx, claim, now=now)
    if stored is None:
        store(tx, claim, error, now=now)
    return stored


def delete_answers(tx: Transaction, organisation_id: str) -> None:
    """Delete the responses that are kept for an organisation; repeated requests get an error."""
    tx.update(IdempotencyKeyRow, {"body": b""}, organisation_id=organisation_id)


def prune(tx: Transaction, *, now: datetime, limit: int) -> int:
    """Delete up to ``limit`` expired responses; returns how many there were."""
    return tx.delete_before(
        IdempotencyKeyRow, "created_at", now - retention.STORED_RESPONSES, limit
    )


def _key(claim: Claim) -> dict[str, str]:
    return {
        "organisation_id": claim.organisation_id,
        "api_key_id": claim.api_key_id,
        "idempotency_key": claim.idempotency_key,
    }


def _lock_number(claim: Claim) -> int:
    """The signed 64-bit number of PostgreSQL's advisory lock."""
    text = "\0".join(("idempotency", claim.api_key_id, claim.idempotency_key))
    digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


@compiled
def _try_lock(number: Param[int]) -> Select:
    return Select(columns=[fn.pg_try_advisory_xact_lock(number).alias("is_locked")])
