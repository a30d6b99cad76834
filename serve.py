"""The composition root: settings in, one running process out. Nothing imports this module.

What only a server needs is imported where it is used: ``hiatus keys`` does not wait for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from ipaddress import ip_address
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import structlog
import typer

from api.base.settings import ApiSettings, public_url
from api.base.version import VERSION
from bot.base.settings import SlackSettings
from bot.service import operator_commands as slack_commands
from storage.access import secret_canary
from storage.base.settings import Environment, StorageSettings
from storage.cli import commands, operator_commands
from storage.db import engines
from storage.db.database import Database
from storage.db.schema import check_schema, migrate
from storage.events import notification_outbox
from storage.rules import holiday_calendar

if TYPE_CHECKING:
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp

    from api.base.dispatcher import Dispatcher
    from bot.service.app import SlackApp
    from playground.playground import Playground
    from storage.cli.demo import DemoOrganisation

Clock = Callable[[], datetime]

# Whom the playground shows first: somebody who asks, who decides, and who administers.
_FIRST_PLAYERS = ("amir@acme.example", "grace@acme.example", "henrik@acme.example")
# Wildcard addresses, and the loopback address that then reaches the server.
_WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1"}
# How long a connection may stay idle after an answer. Of headers, uvicorn with httptools bounds
# neither the size nor the time: docs/proxy.md leaves both to the proxy.
KEEP_ALIVE_SECONDS = 5
# How long a stopping server waits for requests under way.
DRAIN_SECONDS = 20
# How long it then has to finish deliveries and to close the database before it is ended.
FINISH_SECONDS = 10


@dataclass(frozen=True)
class Settings:
    """Everything that the environment says; ``slack`` is None where there is no Slack."""

    storage: StorageSettings
    api: ApiSettings
    slack: SlackSettings | None

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Settings:
        """Read all of it, so that all that is wrong is said at once. Raises SettingsError."""
        environment = Environment({**env, "BASE_URL": public_url(env)})
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


def build(
    settings: Settings, database: Database, clock: Clock, more_routes: Sequence[BaseRoute] = ()
) -> ASGIApp:
    """REST, feeds, Slack over HTTP and the scheduler as one application.

    The caller opens the database, has checked its schema, and closes it afterwards.
    """
    from api.base.metrics import Metrics
    from api.http.rate_limits import RateLimits
    from api.service import app
    from api.service.scheduler import running
    from api.webhooks.webhook_delivery import Sender
    from api.webhooks.webhook_dispatch import webhook_dispatcher

    metrics = Metrics()
    rate_limits = RateLimits(
        settings.api.rate_limit,
        settings.api.rate_limit_storage,
        per_feed=settings.api.feed_rate_limit,
    )
    slack = (
        None if settings.slack is None else slack_app(settings.slack, settings.api, database, clock)
    )

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(rate_limits.close)
            sender = Sender(
                allow_private=settings.api.webhook_allow_private,
                ca_file=settings.api.webhook_ca_file,
            )
            await stack.enter_async_context(sender)
            dispatchers: list[Dispatcher[Any, Any]] = [
                webhook_dispatcher(database, sender, clock, on_settled=metrics.observe_settled)
            ]
            if slack is not None:
                await stack.enter_async_context(slack.running())
                dispatchers.append(notice_dispatcher(slack))
            if settings.api.scheduler_on:
                jobs = [] if slack is None else slack.jobs
                await stack.enter_async_context(running(database, dispatchers, clock, jobs))
            yield

    routes = [
        *app.routes(database, settings.api, clock, rate_limits, metrics),
        *(slack.routes() if slack is not None else ()),
        *more_routes,
    ]
    return app.application(routes, settings.api, metrics, lifespan)


def slack_app(
    settings: SlackSettings, api: ApiSettings, database: Database, clock: Clock
) -> SlackApp:
    """The Slack side, for one workspace by token or for many by OAuth."""
    from api.webhooks.addresses import resolve_and_check
    from bot.service.app import build_app

    # Who adds a webhook in Slack hears the same of its address as over REST.
    check = partial(resolve_and_check, allow_private=api.webhook_allow_private)
    return build_app(settings, database, clock, check_webhook_url=check)


def notice_dispatcher(slack: SlackApp) -> Dispatcher[Any, Any]:
    """The dispatcher that keeps people in Slack up to date."""
    from api.base.dispatcher import Dispatcher

    notifier = slack.notifier
    return Dispatcher(
        notification_outbox.NOTICES,
        claim=notifier.claim,
        attempt=notifier.deliver,
        settle=notifier.settle,
    )


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
        from storage.cli import demo as demo_data

        # Where it listens is the address to name until BASE_URL knows a better one.
        address = shown_address(host, port)
        base_url = public_url(env)
        if not base_url and not demo and host in _WILDCARDS:
            typer.echo(
                f"BASE_URL is missing: with --host {host} it has to say how the world reaches "
                "Hiatus, such as https://hiatus.example.com.",
                err=True,
            )
            raise typer.Exit(1)
        settings = prepared({**env, "BASE_URL": base_url or f"http://{address}"}, migrates=demo)
        # uvicorn repeats the signal that stopped it when it is done; by then all is in order.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        database = open_database(settings)
        playground = None
        try:
            leave_playground(database, settings)
            if demo:
                found = database.write_now(demo_data.ensure, now=utc_now())
                playground = demo_playground(database, found, settings, address)
                typer.echo(demo_banner(found, playground, settings))
            more_routes = []
            if playground is not None:
                playground.slack.start()
                slack = replace(playground.settings, base_url=settings.api.base_url)
                settings = replace(settings, slack=slack)
                more_routes = playground_routes(playground)
            run_server(
                build(settings, database, utc_now, more_routes),
                host=host,
                port=port,
                access_log=False,
                log_config=None,
                server_header=False,
                forwarded_allow_ips=[*settings.api.trusted_proxies],
                timeout_keep_alive=KEEP_ALIVE_SECONDS,
                timeout_graceful_shutdown=DRAIN_SECONDS,
            )
        finally:
            if playground is not None:
                playground.slack.stop()
            database.close()

    return serve


def run_server(app: ASGIApp, **options: Any) -> None:
    """As ``uvicorn.run``, except that a stop signal ends the process within a bounded time."""
    import uvicorn
    from uvicorn.config import STARTUP_FAILURE

    from api.service.request_middleware import for_server

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            end_before_long()
            super().handle_exit(sig, frame)

    server = Server(uvicorn.Config(for_server(app), **options))
    with contextlib.suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        raise typer.Exit(STARTUP_FAILURE)


def shown_address(host: str, port: int) -> str:
    """Where this machine's own programs reach a server that listens on ``host``, as in a URL."""
    host = _WILDCARDS.get(host, host)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def bot_command(env: Mapping[str, str]) -> Callable[[], None]:
    """``hiatus bot``."""

    def bot(
        idle_without_slack: Annotated[
            bool,
            typer.Option(
                "--idle-without-slack",
                help="Without HIATUS_SLACK_APP_TOKEN, wait to be stopped instead of refusing: "
                "process managers stop all processes when one ends.",
            ),
        ] = False,
        health_host: Annotated[
            str, typer.Option(help="Where to serve the health checks.")
        ] = "127.0.0.1",
        health_port: Annotated[
            int | None,
            typer.Option(
                help="Serve /healthz and /readyz there: ready while connected to Slack.",
                min=1,
                max=65_535,
            ),
        ] = None,
    ) -> None:
        """Serve Slack over Socket Mode: no public address is needed."""
        from bot.service.socket import CannotServe

        settings = prepared(env)
        if settings.slack is None or settings.slack.app_token is None:
            if idle_without_slack:
                asyncio.run(idle())
                return
            typer.echo("HIATUS_SLACK_APP_TOKEN is missing: Socket Mode needs it.", err=True)
            raise typer.Exit(1)
        database = open_database(settings)
        leave_playground(database, settings)
        slack = slack_app(settings.slack, settings.api, database, utc_now)
        try:
            health_at = None if health_port is None else (health_host, health_port)
            asyncio.run(
                serve_socket(slack, settings.slack.app_token, settings.api, database, health_at)
            )
        except CannotServe as refused:
            typer.echo(str(refused), err=True)
            raise typer.Exit(1) from refused
        finally:
            database.close()

    return bot


async def idle() -> None:
    """Wait for SIGTERM or SIGINT, with one line in the log that says why."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    log = structlog.stdlib.get_logger("hiatus.bot")
    log.info("idle until stopped: HIATUS_SLACK_APP_TOKEN is not set, so there is no Socket Mode")
    await stop.wait()


async def serve_socket(
    slack: SlackApp,
    app_token: str,
    settings: ApiSettings,
    database: Database,
    health_at: tuple[str, int] | None = None,
) -> None:
    """Slack over Socket Mode until SIGTERM or SIGINT. Raises CannotServe."""
    from api.service.scheduler import running
    from bot.service import socket
    from bot.service.socket_health import Health

    stop = asyncio.Event()

    def stop_before_long() -> None:
        end_before_long()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop_before_long)
    health = Health()
    async with AsyncExitStack() as stack:
        if health_at is not None:
            try:
                await stack.enter_async_context(health.served(*health_at))
            except OSError as error:
                raise socket.CannotServe(f"No health checks: {error.strerror}.") from error
        await stack.enter_async_context(slack.running())
        if settings.scheduler_on:
            dispatchers = [notice_dispatcher(slack)]
            await stack.enter_async_context(running(database, dispatchers, utc_now, slack.jobs))
        await socket.run(slack, app_token, stop, health=health)


def prepared(env: Mapping[str, str], *, migrates: bool = False) -> Settings:
    """The settings, with logging set up and the schema seen to be current.

    Exits with a sentence when either is not in order.
    """
    from api.base import logs

    # A closed terminal or a log rotation is no reason to end; logs go to standard error.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with commands.refusals_on_stderr():
        settings = Settings.from_env(env)
        logs.configure(settings.api.log_format)
        if migrates:
            migrate(settings.storage.database_url, settings.storage.database_timeout)
        check_schema(settings.storage.database_url, settings.storage.database_timeout)
    holiday_calendar.warm_up()
    return settings


def open_database(settings: Settings) -> Database:
    """The handle on the database. Exits with a sentence when the secret keys are not its own."""
    storage = settings.storage
    database = engines.open_database(
        storage.database_url, storage.secrets(), storage.database_timeout
    )
    try:
        with commands.refusals_on_stderr():
            secret_canary.ensure(database)
    except typer.Exit:
        database.close()
        raise
    return database


def end_before_long(seconds: float = DRAIN_SECONDS + FINISH_SECONDS) -> None:
    """End the process after its time for an orderly stop, even if something still hangs."""

    def end() -> None:
        structlog.stdlib.get_logger("hiatus").error("process.ended_unfinished")
        sys.stderr.flush()
        os._exit(1)

    timer = threading.Timer(seconds, end)
    # It must not keep the process alive itself.
    timer.daemon = True
    timer.start()


def leave_playground(database: Database, settings: Settings) -> None:
    """Let a real Slack, where there is one, have what was tied to the playground."""
    from storage.cli import demo_slack

    if settings.slack is not None:
        database.write_now(demo_slack.leave, now=utc_now())


def demo_playground(
    database: Database, found: DemoOrganisation | None, settings: Settings, address: str
) -> Playground | None:
    """The demo organisation's people in a Slack of their own, where there is no real one.

    None where BASE_URL is elsewhere: others can reach this service, and the playground would let
    them act as any of these people.
    """
    from storage.cli import demo_slack

    if found is None or settings.slack is not None or not is_loopback(settings.api.base_url):
        return None
    users = database.write_now(demo_slack.enter, found.organisation_id, now=utc_now())
    if users is None:
        return None
    from playground.playground import Playground, player

    return Playground(demo_slack.TEAM_ID, map(player, users), f"http://{address}")


def is_loopback(url: str) -> bool:
    """Whether a URL names this machine for programs on it."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def playground_routes(playground: Playground) -> list[BaseRoute]:
    """The page, and what it asks for."""
    from bot.base.ids import COMMAND
    from playground import page, playground_http

    token = secrets.token_urlsafe(32)
    first = playground.first(_FIRST_PLAYERS)
    return [
        *page.routes(first, COMMAND, token),
        *page.guarded(playground_http.routes(playground), token),
    ]


def demo_banner(
    found: DemoOrganisation | None, playground: Playground | None, settings: Settings
) -> str:
    """What to try first, with API keys of the demo organisation's people."""
    base_url = settings.api.base_url
    if found is None:
        return f"Hiatus serves your organisations at {base_url}; there is no demo among them."
    lines = [
        f"Hiatus serves the demo organisation {found.organisation_name} at {base_url}",
        f"  Slack     {_where_slack_is(playground, settings)}",
        f"  API       {base_url}/api/v1, described at {base_url}/docs",
        f"  API key   {found.api_key} of {found.owner_email}, an owner",
        f"  API key   {found.member_api_key} of {found.member_email}, a member",
        f"  Try       curl -H 'Authorization: Bearer {found.api_key}' "
        f"{base_url}/api/v1/leave-requests",
    ]
    return "\n".join(lines)


def _where_slack_is(playground: Playground | None, settings: Settings) -> str:
    if playground is not None:
        return f"{settings.api.base_url}/playground plays it, for three people at once"
    if settings.slack is not None:
        return "the one that the settings name; there is no playground beside a real Slack"
    if not is_loopback(settings.api.base_url):
        return "none: BASE_URL is not on this machine, so there is no playground"
    return "none: the demo organisation belongs to a real workspace, so there is no playground"


def print_version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"hiatus {VERSION}")
        raise typer.Exit


def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Leave management for organisations that live in Slack."""


def command_line(env: Mapping[str, str]) -> typer.Typer:
    """The ``hiatus`` command with all of its commands."""
    app = commands.build_app(env, utc_now)
    app.callback()(options)
    slack_commands.add_to(operator_commands.add_to(app, env, utc_now), env)
    app.command("serve")(serve_command(env))
    app.command("bot")(bot_command(env))
    return app


def main() -> None:
    command_line(os.environ)()


if __name__ == "__main__":
    main()
