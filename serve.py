"""The composition root: settings in, one running process out. Nothing imports this module."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
import uvicorn
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from starlette.applications import Starlette

from api import logs
from api.dispatcher import Dispatcher
from api.settings import ApiSettings
from api.webhook_delivery import Sender
from api.webhook_dispatch import webhook_dispatcher
from bot.settings import SlackSettings
from storage import commands
from storage.database import Database
from storage.schema import check_schema, migrate
from storage.settings import Environment, StorageSettings

Clock = Callable[[], datetime]

TICK_SECONDS = 1
# How long a stopping server waits for requests under way.
DRAIN_SECONDS = 20


@dataclass(frozen=True)
class Settings:
    """Everything that the environment says; ``slack`` is None where there is no Slack."""

    storage: StorageSettings
    api: ApiSettings
    slack: SlackSettings | None

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Settings:
        """Read all of it, so that all that is wrong is said at once. Raises SettingsError."""
        environment = Environment(env)
        settings = cls(
            StorageSettings.read(environment),
            ApiSettings.read(environment),
            SlackSettings.read(environment),
        )
        environment.check()
        return settings


def utc_now() -> datetime:
    """The one clock, in whole milliseconds as the database keeps them; the rest is handed it."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def build(settings: Settings, database: Database, clock: Clock) -> Starlette:
    """REST, feeds and the scheduler as one application.

    The caller opens the database, has checked its schema, and closes it afterwards.
    """
    import api.app

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            dispatchers = []
            if settings.api.scheduler_on:
                sender = Sender(allow_private=settings.api.webhook_allow_private)
                await stack.enter_async_context(sender)
                dispatchers.append(webhook_dispatcher(database, sender, clock))
            await stack.enter_async_context(running(database, dispatchers))
            yield

    return Starlette(
        routes=api.app.routes(database, settings.api, clock),
        exception_handlers=api.app.exception_handlers(settings.api),
        middleware=api.app.middleware(settings.api),
        lifespan=lifespan,
    )


@asynccontextmanager
async def running(
    database: Database, dispatchers: Sequence[Dispatcher[Any, Any]]
) -> AsyncIterator[None]:
    """Have the dispatchers woken by commits, and by a tick for what came due or was missed."""
    scheduler = AsyncIOScheduler(
        # A stalled loop may delay a tick; it must not cost one.
        job_defaults={"misfire_grace_time": None, "coalesce": True}
    )
    for dispatcher in dispatchers:
        database.on_wake(dispatcher.name, dispatcher.wake)
        dispatcher.start()
        scheduler.add_job(dispatcher.wake, "interval", seconds=TICK_SECONDS)
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown(wait=False)
        await asyncio.gather(*(dispatcher.stop() for dispatcher in dispatchers))


def serve_command(env: Mapping[str, str]) -> Callable[..., None]:
    """``hiatus serve``."""

    def serve(
        host: Annotated[str, typer.Option(help="Where to listen.")] = "127.0.0.1",
        port: Annotated[int, typer.Option(help="Where to listen.", min=1, max=65_535)] = 8000,
        demo: Annotated[
            bool, typer.Option("--demo", help="Migrate, and fill an empty database.")
        ] = False,
    ) -> None:
        """Serve REST, calendar feeds, Slack and the scheduler."""
        with commands.refusals_on_stderr():
            settings = Settings.from_env(env)
            logs.configure(settings.api.log_format)
            url = settings.storage.database_url
            if demo:
                migrate(url)
            check_schema(url)
        # uvicorn repeats the signal that stopped it when it is done; by then all is in order.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        database = Database.open(url, settings.storage.secrets())
        try:
            if demo:
                typer.echo(demo_banner(database, settings.api.base_url))
            uvicorn.run(
                build(settings, database, utc_now),
                host=host,
                port=port,
                access_log=False,
                log_config=None,
                server_header=False,
                timeout_graceful_shutdown=DRAIN_SECONDS,
            )
        finally:
            database.close()

    return serve


def demo_banner(database: Database, base_url: str) -> str:
    """What to try first, with an API key of the demo organisation's owner."""
    from storage import demo

    found = database.write_now(demo.ensure, now=utc_now())
    if found is None:
        return f"Hiatus serves your organisations at {base_url}; there is no demo among them."
    lines = [
        f"Hiatus serves the demo organisation {found.organisation_name} at {base_url}",
        f"  API       {base_url}/api/v1, described in {base_url}/openapi.json",
        f"  API key   {found.api_key} of {found.owner_email}, an owner",
        f"  API key   {found.member_api_key} of {found.member_email}, a member",
        f"  Try       curl -H 'Authorization: Bearer {found.api_key}' "
        f"{base_url}/api/v1/leave-requests",
    ]
    return "\n".join(lines)


def main() -> None:
    """The ``hiatus`` command."""
    app = commands.build_app(os.environ, utc_now)
    app.command("serve")(serve_command(os.environ))
    app()


if __name__ == "__main__":
    main()
