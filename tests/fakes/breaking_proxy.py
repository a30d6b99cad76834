"""Stands between a process and PostgreSQL, and breaks the connection when a COMMIT passes."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Literal, Self
from urllib.parse import parse_qs, urlsplit

Moment = Literal["before", "after"]


class BreakingProxy:
    """Use as a context manager. ``url`` leads through it to the database of ``database_url``.

    ``breaks``: the next COMMIT's connection breaks before the server gets it, or after the server
    executed it. None forwards everything.
    """

    def __init__(self, database_url: str) -> None:
        parts = urlsplit(database_url)
        (folder,) = parse_qs(parts.query)["host"]
        self._server = str(Path(folder) / ".s.PGSQL.5432")
        self._listening = socket.create_server(("127.0.0.1", 0))
        port = self._listening.getsockname()[1]
        self.url = f"postgresql://{parts.username}@127.0.0.1:{port}{parts.path}?sslmode=disable"
        self.breaks: Moment | None = None

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._listening.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(client,), daemon=True).start()

    def _carry(self, client: socket.socket) -> None:
        server = socket.socket(socket.AF_UNIX)
        server.connect(self._server)
        is_broken = threading.Event()
        answering = threading.Thread(target=_copy, args=(server, client, is_broken), daemon=True)
        answering.start()
        with client, server:
            while data := _received(client):
                if b"COMMIT" not in data or self.breaks is None:
                    server.sendall(data)
                    continue
                moment, self.breaks = self.breaks, None
                # From here on the client receives nothing.
                is_broken.set()
                if moment == "after":
                    server.sendall(data)
                server.shutdown(socket.SHUT_WR)
                # The server closes the connection once it has executed all statements, and holds
                # no lock any more. Only then does the client notice, so that it can retry at once.
                answering.join()
                client.shutdown(socket.SHUT_RDWR)
                return


def _copy(source: socket.socket, target: socket.socket, is_broken: threading.Event) -> None:
    while data := _received(source):
        try:
            if not is_broken.is_set():
                target.sendall(data)
        except OSError:
            # The target is closed; the source is still read to its end.
            continue


def _received(source: socket.socket) -> bytes:
    try:
        return source.recv(65_536)
    except OSError:
        return b""
