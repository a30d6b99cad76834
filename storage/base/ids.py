"""Identifiers made by the application, so that no write needs a round trip for its id.

Their random bytes are read from the operating system in blocks: the system call costs several times
as much as making an id, and releases the interpreter lock.
"""

from __future__ import annotations

import os
import re
import threading
from datetime import datetime
from typing import Final

# Ids stay in order if the clock is set back by at most a day, in milliseconds.
_MAX_SET_BACK = 86_400_000

_BLOCK_LENGTH: Final = 4_096

_ID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_lock = threading.Lock()
_latest = 0

_block_lock = threading.Lock()
_block = b""
_used = 0


def new_id(now: datetime) -> str:
    """A version 7 UUID as 36 lower-case characters, greater than all earlier ones of this process.

    Milliseconds, then a 12-bit counter, then 62 random bits. Sorts by time, which keeps index
    inserts local. After a clock that was more than a day ahead is corrected, new ids sort before
    those that it made. Source: RFC 9562, sections 5.7 and 6.2, method 1.
    """
    global _latest
    stamp = int(now.timestamp() * 1000) << 12
    with _lock:
        if _latest - stamp < _MAX_SET_BACK << 12:
            stamp = max(stamp, _latest + 1)
        _latest = stamp
    head = f"{stamp >> 12:012x}"
    tail = f"{0b10 << 62 | int.from_bytes(random_bytes(8), 'big') >> 2:016x}"
    return f"{head[:8]}-{head[8:]}-7{stamp & 0xFFF:03x}-{tail[:4]}-{tail[4:]}"


def is_id(text: str) -> bool:
    """Whether the text is a UUID in lower case with hyphens."""
    return _ID.fullmatch(text) is not None


def earliest_id(instant: datetime) -> str:
    """A lower bound of the ids that are made at that instant or later."""
    head = f"{int(instant.timestamp() * 1000):012x}"
    return f"{head[:8]}-{head[8:]}-0000-0000-000000000000"


def random_bytes(amount: int) -> bytes:
    """At most 4,096 unused random bytes, good enough for secrets."""
    global _block, _used
    with _block_lock:
        if _used + amount > len(_block):
            _block, _used = os.urandom(_BLOCK_LENGTH), 0
        chunk = _block[_used : _used + amount]
        _used += amount
    return chunk


def _drop_block() -> None:
    """After a fork, the child drops the block that its parent still uses."""
    global _block_lock, _block
    _block_lock = threading.Lock()
    _block = b""


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_block)
