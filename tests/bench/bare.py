"""The base of every comparison: Starlette routes that return ready bytes.

``python -m tests.bench.bare PORT FILE`` serves the ``Ready`` responses in the file from one
uvicorn worker. A route ignores the request and its body.
"""

from __future__ import annotations

import base64
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route


@dataclass(frozen=True, kw_only=True, slots=True)
class Ready:
    """One route's response; ``path`` in Starlette's syntax, ``body`` in base64."""

    method: str
    path: str
    status: int
    content_type: str
    body: str


def _route(ready: Ready) -> Route:
    body = base64.b64decode(ready.body)

    async def respond(_: Request) -> Response:
        return Response(body, ready.status, media_type=ready.content_type)

    return Route(ready.path, respond, methods=[ready.method])


if __name__ == "__main__":
    responses = [Ready(**response) for response in json.loads(Path(sys.argv[2]).read_text())]
    uvicorn.run(
        Starlette(routes=[_route(ready) for ready in responses]),
        host="127.0.0.1",
        port=int(sys.argv[1]),
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="warning",
        server_header=False,
    )
