"""The modules of api, bot and storage that run for a request, as docs/architecture.md counts them.

``python -m tests.bench.files_passed`` prints their number; ``--list`` prints their names as well.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final

import httpx

from bot.base import ids
from storage.base.secrets import Secrets
from storage.db.engines import open_database
from storage.db.schema import migrate
from tests.api.conftest import application
from tests.bench.servers import ROOT
from tests.bot.world import ADA, FIRST_DAY, GRACE, World
from tests.builders import a_key
from tests.fakes.slack import LoopbackSlack

_COUNTED: Final = ("api", "bot", "storage")


class _Recorder:
    """A profile function for all threads; set it before they start."""

    def __init__(self) -> None:
        self.is_recording = False
        self.files: set[str] = set()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if self.is_recording and event == "call":
            self.files.add(frame.f_code.co_filename)

    @contextmanager
    def recording(self) -> Iterator[None]:
        self.files.clear()
        self.is_recording = True
        yield
        self.is_recording = False

    def modules(self) -> list[str]:
        paths = [Path(file) for file in self.files]
        inside = [path.relative_to(ROOT) for path in paths if path.is_relative_to(ROOT)]
        return sorted(str(path) for path in inside if path.parts[0] in _COUNTED)


def files_passed(folder: Path) -> dict[str, list[str]]:
    """For a request that is created over REST, and for one that is approved in Slack.

    Each is done once before, so that nothing is counted that a process does only once. The
    deliveries of the approval are included; periodic jobs are not.
    """
    recorder = _Recorder()
    threading.setprofile(recorder)
    sys.setprofile(recorder)
    url = f"sqlite:///{folder / 'files_passed.db'}"
    migrate(url)
    database = open_database(url, Secrets.generate())
    found: dict[str, list[str]] = {}
    try:
        with LoopbackSlack() as slack, World(database, slack) as world:
            world.link()
            rest = application(database)
            key = a_key(database, world.acme, world.people[ADA])
            leave_type_id = world.leave_type("annual")
            for week in (0, 1):
                day = FIRST_DAY.replace(day=FIRST_DAY.day + 7 * week).isoformat()
                body = {"leave_type_id": leave_type_id, "start_date": day, "end_date": day}
                with recorder.recording():
                    created = asyncio.run(_post(rest, key, body))
                assert created.status_code == 201, created.text
                found["create"] = recorder.modules()
                world.deliver()
                with recorder.recording():
                    world.click(GRACE, ids.APPROVE)
                    world.deliver()
                found["approve"] = recorder.modules()
    finally:
        database.close()
        threading.setprofile(None)
        sys.setprofile(None)
    return found


async def _post(rest: object, key: str, body: dict[str, str]) -> httpx.Response:
    transport = httpx.ASGITransport(rest)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://hiatus.test") as client:
        return await client.post(
            "/api/v1/leave-requests", json=body, headers={"Authorization": f"Bearer {key}"}
        )


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="hiatus-files-") as folder:
        for name, modules in files_passed(Path(folder)).items():
            print(f"{name}: {len(modules)}")  # noqa: T201
            for module in modules if "--list" in sys.argv else ():
                print(f"  {module}")  # noqa: T201


if __name__ == "__main__":
    main()
