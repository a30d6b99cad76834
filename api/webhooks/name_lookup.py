"""Name resolution on its own threads. Allowed addresses: ``public_addresses``."""

from __future__ import annotations

import asyncio
import functools
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol


class Resolver(Protocol):
    async def resolve(self, host: str) -> list[str]:
        """Every address of a name, the best first. Raises OSError if it has none."""


class PooledResolver:
    """Uses the system's resolver for at most ``max_threads`` names at once.

    A lookup that hangs blocks a thread here. In the event loop's own pool, uvloop runs two lookups
    at a time: two dead names would block every other lookup of the process, including Slack's.
    """

    def __init__(self, max_threads: int = 16) -> None:
        self._threads = ThreadPoolExecutor(max_threads, thread_name_prefix="name-lookup")
        self._running: dict[str, asyncio.Future[list[str]]] = {}

    async def resolve(self, host: str) -> list[str]:
        lookup = self._running.get(host)
        if lookup is None:
            # One thread for all attempts at a name, also if the first of them ends before it.
            lookup = asyncio.get_running_loop().run_in_executor(self._threads, _addresses_of, host)
            self._running[host] = lookup
            lookup.add_done_callback(functools.partial(self._forget, host))
        return await asyncio.shield(lookup)

    def _forget(self, host: str, lookup: asyncio.Future[list[str]]) -> None:
        del self._running[host]
        if not lookup.cancelled():
            lookup.exception()  # No one may be waiting for it.

    def close(self) -> None:
        """Cancel queued lookups; running ones finish."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _addresses_of(host: str) -> list[str]:
    try:
        addresses = socket.getaddrinfo(host, None, 0, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG)
    except UnicodeError as error:
        raise OSError(f"not a host name: {host!r}") from error
    return [str(address[0]) for *_, address in addresses]
