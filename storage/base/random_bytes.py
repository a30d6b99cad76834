"""Random bytes from the operating system, read in blocks.

A fetch costs several times what making an id of them does, and while it lasts every other thread
may take the interpreter.
"""

from __future__ import annotations

import os
import threading
from typing import Final

_FETCHED_BYTES: Final = 4_096

_lock = threading.Lock()
_fetched = b""
_used = 0


def random_bytes(amount: int) -> bytes:
    """At most 4,096 unused random bytes, good enough for secrets."""
    global _fetched, _used
    with _lock:
        if _used + amount > len(_fetched):
            _fetched, _used = os.urandom(_FETCHED_BYTES), 0
        found = _fetched[_used : _used + amount]
        _used += amount
    return found


def _forget() -> None:
    """After a fork, the child drops the rest of the block, which its parent will use."""
    global _lock, _fetched
    _lock = threading.Lock()
    _fetched = b""


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
