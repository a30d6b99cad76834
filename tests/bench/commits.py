"""Commits by another client while something is measured: new leave requests at a steady rate."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException, HTTPResponse

from tests.bench.load import UnexpectedResponse

COMMITS_PER_SECOND = 20


@contextmanager
def committing(port: int, creations: Iterator[str]) -> Iterator[None]:
    """Send a creation every 50 ms over one connection; late creations are not made up for.

    Raises UnexpectedResponse at the end if a creation failed or none was left.
    """
    is_over = threading.Event()
    failures: list[str] = []

    def commit() -> None:
        try:
            with socket.create_connection(("127.0.0.1", port), 10) as connection:
                while not is_over.is_set():
                    started = time.monotonic()
                    connection.sendall(next(creations).encode())
                    response = HTTPResponse(connection, method="POST")
                    response.begin()
                    body = response.read()
                    if response.status != 201:
                        raise HTTPException(f"{response.status} {body.decode()}")
                    is_over.wait(1 / COMMITS_PER_SECOND - (time.monotonic() - started))
        except (HTTPException, OSError, StopIteration) as error:
            failures.append(repr(error))

    thread = threading.Thread(target=commit, name="commits")
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
    if failures:
        raise UnexpectedResponse(f"The commits meanwhile ended early: {failures[0]}")
