"""How many SQL statements a use case runs, deliveries in Slack included.

``python -m tests.bench.statements`` prints them; ``--list`` prints the statements as well.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from bot.base import ids
from storage.base import monitoring
from storage.base.leave_values import LeaveRequest
from storage.base.secrets import Secrets
from storage.db.database import Database
from storage.db.engines import open_database
from storage.db.pages import PageOf
from storage.db.schema import migrate
from storage.leave import decisions, leave_lists, leave_requests, previews
from storage.leave.drafts import Draft
from storage.workspaces import home
from tests.bench.servers import empty_database
from tests.bot.world import ADA, FIRST_DAY, GRACE, LAST_DAY, World
from tests.fakes.slack import LoopbackSlack

ENGINES: Final = ("sqlite", "postgresql")


class _NoSpan:
    def rename(self, name: str) -> None: ...
    def set(self, attributes: object) -> None: ...
    def fail(self, error_type: str) -> None: ...


@dataclass
class _Recorder:
    """Tracing that keeps the text of every statement."""

    statements: list[str] = field(default_factory=list)

    def span(self, *_: object) -> Any:
        return nullcontext(_NoSpan())

    def inner_span(self, *_: object) -> Any:
        return nullcontext(_NoSpan())

    def finished(self, name: str, seconds: float, attributes: Mapping[str, object]) -> None:
        self.statements.append(str(attributes["db.query.text"]))

    def ids(self) -> None:
        return None


def statements_of(engine: str, folder: Path) -> dict[str, list[str]]:
    """The statements of each use case on an engine, in the order in which they run.

    Two people decide on the leave of a person with a manager of neither; all have Slack. The
    configuration of the organisation is cached, as it is in a process that has served a request.
    """
    recorder = _Recorder()
    with (
        empty_database(engine, folder, f"statements_{engine}") as url,
        LoopbackSlack() as slack,
        _open(url) as database,
        World(database, slack) as world,
    ):
        world.link()
        monitoring.activate_tracing(recorder)
        found: dict[str, list[str]] = {}

        def run(name: str, use_case: Callable[..., Any], **how: Any) -> Any:
            recorder.statements.clear()
            result = use_case(**how)
            found[name] = list(recorder.statements)
            return result

        # Accounts are looked up, and the configuration is read, once.
        earlier = [_draft(world, weeks=weeks) for weeks in (8, 9)]
        for draft in earlier:
            request = _submit(world, draft)
            world.deliver()
            _approve(world, request)
            world.deliver()
        draft = _draft(world, weeks=0)
        run(
            "preview",
            lambda: database.read_now(
                previews.preview, by=world.caller(ADA), draft=draft, now=world.clock()
            ),
        )
        request = run("create", lambda: _submit(world, draft))
        run("create, delivered", world.deliver)
        run(
            "list",
            lambda: database.read_now(
                leave_lists.filtered, PageOf(limit=25), by=world.caller(GRACE)
            ),
        )
        run(
            "home",
            lambda: database.read_now(home.load, by=world.caller(GRACE), now=world.clock()),
        )
        run("approve", lambda: _approve(world, request))
        run("approve, delivered", world.deliver)
        _submit(world, _draft(world, weeks=1))
        world.deliver()
        run("approve in Slack", lambda: world.click(GRACE, ids.APPROVE))
        run("approve in Slack, delivered", world.deliver)
        for name in ("create", "approve", "approve in Slack"):
            found[f"{name}, delivered"] = found[name] + found[f"{name}, delivered"]
    return found


def counts(engine: str, folder: Path) -> dict[str, int]:
    """The number of statements of each use case on an engine."""
    return {name: len(statements) for name, statements in statements_of(engine, folder).items()}


@contextmanager
def _open(url: str) -> Iterator[Database]:
    migrate(url)
    database = open_database(url, Secrets.generate())
    try:
        yield database
    finally:
        database.close()


def _draft(world: World, *, weeks: int) -> Draft:
    return Draft(
        leave_type_id=world.leave_type("annual"),
        start_date=FIRST_DAY + timedelta(weeks=weeks),
        end_date=LAST_DAY + timedelta(weeks=weeks),
    )


def _submit(world: World, draft: Draft) -> LeaveRequest:
    return world.write(leave_requests.submit, by=ADA, draft=draft)


def _approve(world: World, request: LeaveRequest) -> LeaveRequest:
    return world.write(decisions.approve, request.id, by=GRACE)


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="hiatus-statements-") as folder:
        for engine in ENGINES:
            found = statements_of(engine, Path(folder))
            print(engine)  # noqa: T201
            for name, statements in found.items():
                print(f"  {name}: {len(statements)}")  # noqa: T201
                for statement in statements if "--list" in sys.argv else ():
                    print(f"    {statement[:300]}")  # noqa: T201


if __name__ == "__main__":
    main()
