"""Random bytes from the operating system, read in blocks.

The system call costs several times as much as making an id, and releases the interpreter lock.
"""

from __future__ import annotations

import os
import threading
from typing import Final

_BLOCK_LENGTH: Final = 4_096

_lock = threading.Lock()
_block = b""
_used = 0


def random_bytes(amount: int) -> bytes:
    """At most 4,096 unused random bytes, good enough for secrets."""
    global _block, _used
    with _lock:
        if _used + amount > len(_block):
            _block, _used = os.urandom(_BLOCK_LENGTH), 0
        chunk = _block[_used : _used + amount]
        _used += amount
    return chunk


def _drop_block() -> None:
    """After a fork, the child drops the block that its parent still uses."""
    global _lock, _block
    _lock = threading.Lock()
    _block = b""


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_drop_block)
