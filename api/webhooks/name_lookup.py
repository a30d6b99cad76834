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

    async def resolve(self, host: str) -> list[str]:
        look_up = functools.partial(
            socket.getaddrinfo, host, None, 0, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG
        )
        try:
            addresses = await asyncio.get_running_loop().run_in_executor(self._threads, look_up)
        except UnicodeError as error:
            raise OSError(f"not a host name: {host!r}") from error
        return [str(address[0]) for *_, address in addresses]

    def close(self) -> None:
        """Cancel queued lookups; running ones finish."""
        self._threads.shutdown(wait=False, cancel_futures=True)
