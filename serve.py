"""The composition root: it reads the settings and starts a process. Nothing imports this module."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, Final

import click
import structlog
from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from api.base import logs
from api.base.dispatcher import Dispatcher
from api.base.metrics import Metrics
from api.base.queue_ages import QueueReader
from api.base.settings import MEMORY_URL, ApiSettings, public_url
from api.base.version import VERSION, commit
from api.http.rate_limits import RateLimits
from api.mcp.callers import SlackPeople
from api.mcp.endpoint import McpEndpoint
from api.service import app, server, telemetry
from api.service import doctor as api_doctor
from api.service.request_middleware import for_server
from api.service.scheduler import running
from api.service.server import idle_until_stopped, stop_event
from api.webhooks.webhook_delivery import Sender
from api.webhooks.webhook_dispatch import webhook_dispatcher
from api.webhooks.webhook_urls import resolve_and_check
from api.website.welcome import Website
from bot.base.settings import SlackSettings
from bot.service import doctor as slack_doctor
from bot.service import manifest, socket
from bot.service.app import SlackApp, build_app
from bot.service.assistants import SlackAssistants
from bot.service.socket import Health
from storage.base.environment import Environment, unknown_settings
from storage.base.settings import StorageSettings
from storage.db import engines
from storage.db.database import Database
from storage.db.schema import check_schema, log_newer, migrate
from storage.keys import stored_secrets
from storage.operations import backups, commands, console, demo, demo_files, doctor
from storage.operations.doctor import Check
from storage.outbox import notification_outbox

Clock = Callable[[], datetime]

# Of prometheus_client, which reads it when it is imported.
METRICS_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"

_log = structlog.stdlib.get_logger("hiatus")


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """The settings of the environment. ``slack`` is None if Slack is not set up."""

    storage: StorageSettings
    api: ApiSettings
    slack: SlackSettings | None

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Settings:
        """Raises SettingsError with every problem at once."""
        environment = Environment({**env, "BASE_URL": public_url(env)})
        settings = cls(
            storage=StorageSettings.read(environment),
            api=ApiSettings.read(environment),
            slack=SlackSettings.read(environment),
        )
        environment.check()
        return settings


def utc_now() -> datetime:
    """The only clock, in whole milliseconds, as the database stores them."""
    now = datetime.now(UTC)
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def build(
    settings: Settings,
    database: Database,
    clock: Clock,
    more_routes: Sequence[BaseRoute] = (),
    *,
    closes_database: bool = False,
    metrics_folder: str | None = None,
) -> Starlette:
    """REST, feeds, Slack over HTTP and the scheduler as one application.

    ``more_routes`` are the playground's. The caller opens the database and has checked its schema.
    Once the application has stopped, the process must end soon.
    """
    # Reading rows and rendering feeds keep threads busy. A request that waits for the interpreter
    # gets it after 0.5 ms instead of Python's 5: Home takes 96 instead of 135 ms at the 95 %.
    sys.setswitchinterval(0.0005)
    metrics = Metrics(metrics_folder)
    api = settings.api
    rate_limits = RateLimits(api.rate_limit, api.rate_limit_storage, per_feed=api.feed_rate_limit)
    retention = settings.storage.retention
    site = Website(
        support_contact=api.support_contact,
        has_playground=bool(more_routes),
        retention=retention,
    )
    slack = None
    assistants: SlackPeople | None = None
    if settings.slack is not None:
        slack = slack_app(settings.slack, api, database, clock)
        assistants = SlackAssistants(slack.services, settings.slack.signing_secret)
        site = replace(site, command=settings.slack.command, can_install=settings.slack.is_oauth)

    mcp = McpEndpoint(app.services(database, api, clock, rate_limits), assistants)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(rate_limits.close)
            await rate_limits.connect()
            sender = Sender(
                allow_private=api.webhook_allow_private,
                allow_loopback=api.webhook_allow_loopback,
                ca_file=api.webhook_ca_file,
            )
            await stack.enter_async_context(sender)
            dispatchers: list[Dispatcher[Any, Any]] = [
                webhook_dispatcher(database, sender, clock, on_recorded=metrics.observe_attempts)
            ]
            if slack is not None:
                await stack.enter_async_context(slack.running())
                dispatchers.append(notification_dispatcher(slack))
            await stack.enter_async_context(mcp.running())
            if api.scheduler_on:
                jobs = {} if slack is None else slack.jobs
                running_jobs = running(database, dispatchers, clock, jobs, retention=retention)
                await stack.enter_async_context(running_jobs)
            yield
            server.end_soon()
        if closes_database:
            database.close()

    routes = app.routes(database, api, clock, rate_limits, metrics, site)
    slack_routes = [] if slack is None else slack.routes()
    served = [*routes, mcp.route(), *slack_routes, *more_routes]
    return app.application(served, api, metrics, lifespan)


def slack_app(
    settings: SlackSettings, api: ApiSettings, database: Database, clock: Clock
) -> SlackApp:
    """The Slack side, for one workspace by token or for many by OAuth."""
    # Webhooks that are added in Slack are checked like those of the API.
    check = partial(
        resolve_and_check,
        allow_private=api.webhook_allow_private,
        allow_loopback=api.webhook_allow_loopback,
    )
    return build_app(
        settings, database, clock, check_webhook_url=check, support_contact=api.support_contact
    )


def notification_dispatcher(slack: SlackApp) -> Dispatcher[Any, Any]:
    """The dispatcher that sends notifications in Slack."""
    notifier = slack.notifier
    return Dispatcher(
        notification_outbox.NOTIFICATIONS,
        claim=notifier.claim,
        attempt=notifier.deliver,
        record_results=notifier.record_results,
    )


def serve_command(env: Mapping[str, str]) -> click.Command:

    @click.command()
    @click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
    @click.option(
        "--port",
        type=click.IntRange(1, 65_535),
        default=8000,
        show_default=True,
        help="Port to listen on.",
    )
    @click.option(
        "--workers",
        type=click.IntRange(1, 64),
        default=1,
        show_default=True,
        help="Processes that share the port, to use more processor cores.",
    )
    @click.option("--demo", is_flag=True, help="Migrate, and add demo data if empty.")
    @click.option("--start-over", is_flag=True, help="With --demo: remove the demo's file first.")
    def serve(host: str, port: int, workers: int, demo: bool, start_over: bool) -> None:
        """Serve REST, calendar feeds, Slack and the scheduler."""
        if start_over and not demo:
            raise click.UsageError("--start-over needs --demo.")
        if demo and workers > 1:
            raise click.UsageError("--demo needs one process: its Slack is in that process.")
        address = server.shown_address(host, port)
        base_url = public_url(env)
        if not base_url and not demo and host in server.WILDCARDS:
            click.echo(
                f"BASE_URL is missing. With --host {host}, set it to the public address of "
                "Hiatus, such as https://hiatus.example.com.",
                err=True,
            )
            raise click.exceptions.Exit(1)
        try:
            # Before anything else: a process without its port must not migrate or start jobs.
            server.check_address(host, port)
        except server.CannotListen as error:
            hint = ' With make: `make run ARGS="--port 9000"`.' if demo else ""
            console.fail(f"{error}{hint}")
        if start_over:
            with console.errors_on_stderr():
                demo_files.start_over(StorageSettings.from_env(env).database_url)
        settings = prepare({**env, "BASE_URL": base_url or f"http://{address}"}, migrates=demo)
        # When uvicorn has stopped, it raises the signal that stopped it again.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        with closing(open_database(settings)) as database, ExitStack() as stack:
            unlink_playground(database, settings)
            more_routes: Sequence[BaseRoute] = ()
            if demo:
                # No process in production imports it.
                from playground import demo as demo_server

                slack, more_routes = demo_server.start(
                    database,
                    settings.slack,
                    base_url=settings.api.base_url,
                    address=address,
                    clock=utc_now,
                    stack=stack,
                )
                # The playground receives webhooks, too.
                api = replace(settings.api, webhook_allow_loopback=bool(more_routes))
                settings = replace(settings, slack=slack, api=api)
            if workers == 1:
                application = build(settings, database, utc_now, more_routes)
                server.run(for_server(application), host, port, settings.api.trusted_proxies)
        if workers > 1:
            serve_workers(settings, host, port, workers)

    return serve


def serve_workers(settings: Settings, host: str, port: int, workers: int) -> None:
    """Start processes that share the port, each with ``worker``, and wait for their end."""
    if settings.api.rate_limit_storage == MEMORY_URL:
        _log.info("each worker limits requests by itself: Redis would let them share the counts")
    # For the workers, which read the environment themselves.
    os.environ["BASE_URL"] = settings.api.base_url
    with TemporaryDirectory(prefix="hiatus-metrics-") as folder:
        os.environ[METRICS_FOLDER] = folder
        server.run("serve:worker", host, port, settings.api.trusted_proxies, workers)


def worker() -> ASGIApp:
    """The application of one of several processes, made by uvicorn in each of them."""
    settings = prepare(os.environ)
    database = open_database(settings)
    folder = os.environ[METRICS_FOLDER]
    return for_server(
        build(settings, database, utc_now, closes_database=True, metrics_folder=folder)
    )


def bot_command(env: Mapping[str, str]) -> click.Command:

    @click.command()
    @click.option(
        "--idle-without-slack",
        is_flag=True,
        help="Without HIATUS_SLACK_APP_TOKEN, idle instead of exiting: some process managers stop "
        "all processes when one exits.",
    )
    @click.option(
        "--health-host",
        default="127.0.0.1",
        show_default=True,
        help="Address to serve the health checks on.",
    )
    @click.option(
        "--health-port",
        type=click.IntRange(1, 65_535),
        help="Port to serve /healthz and /readyz on: ready while connected to Slack.",
    )
    def bot(idle_without_slack: bool, health_host: str, health_port: int | None) -> None:
        """Serve Slack over Socket Mode, without a public address."""
        settings = prepare(env)
        if settings.slack is None or settings.slack.app_token is None:
            if idle_without_slack:
                asyncio.run(idle_until_stopped())
                return
            click.echo("HIATUS_SLACK_APP_TOKEN is missing: Socket Mode needs it.", err=True)
            raise click.exceptions.Exit(1)
        database = open_database(settings)
        unlink_playground(database, settings)
        slack = slack_app(settings.slack, settings.api, database, utc_now)
        try:
            health_address = None if health_port is None else (health_host, health_port)
            app_token = settings.slack.app_token
            asyncio.run(serve_socket(slack, app_token, settings, database, health_address))
        except socket.CannotServe as error:
            click.echo(str(error), err=True)
            raise click.exceptions.Exit(1) from error
        finally:
            database.close()

    return bot


async def serve_socket(
    slack: SlackApp,
    app_token: str,
    settings: Settings,
    database: Database,
    health_address: tuple[str, int] | None = None,
) -> None:
    """Serve Slack over Socket Mode until SIGTERM or SIGINT. Raises CannotServe."""
    stop = stop_event()
    health = Health(partial(Metrics().exposition_with, QueueReader(database, utc_now)))
    async with AsyncExitStack() as stack:
        if health_address is not None:
            try:
                await stack.enter_async_context(health.served(*health_address))
            except OSError as error:
                reason = server.why_not(error, *health_address, options="--health-")
                raise socket.CannotServe(f"No health checks: {reason}") from error
        await stack.enter_async_context(slack.running())
        if settings.api.scheduler_on:
            dispatchers = [notification_dispatcher(slack)]
            retention = settings.storage.retention
            jobs = running(database, dispatchers, utc_now, slack.jobs, retention=retention)
            await stack.enter_async_context(jobs)
        await socket.run(slack, app_token, stop, health=health)


def prepare(env: Mapping[str, str], *, migrates: bool = False) -> Settings:
    """The settings, after logging is configured and the schema is checked.

    Exits with a message if the settings are wrong or the schema is out of date.
    """
    # A closed terminal or a log rotation must not end the process: logs go to standard error.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with console.errors_on_stderr():
        settings = Settings.from_env(env)
        logs.configure(settings.api.log_format)
        telemetry.start(env)
        if migrates:
            migrate(settings.storage.database_url, settings.storage.database_timeout)
        log_newer(check_schema(settings.storage.database_url, settings.storage.database_timeout))
    return settings


def open_database(settings: Settings) -> Database:
    """The database. Exits with a message if the secret keys cannot read what is in it."""
    storage = settings.storage
    database = engines.open_database(
        storage.database_url, storage.secrets(), storage.database_timeout
    )
    try:
        with console.errors_on_stderr():
            stored_secrets.check_keys(database)
    except click.exceptions.Exit:
        database.close()
        raise
    return database


def unlink_playground(database: Database, settings: Settings) -> None:
    """Unlink the demo from the playground if a real Slack is set up."""
    if settings.slack is not None:
        database.write_now(demo.leave, now=utc_now())


def doctor_checks(env: Mapping[str, str]) -> list[Check]:
    """The checks of ``hiatus doctor``, as far as the settings are valid."""
    environment = Environment({**env, "BASE_URL": public_url(env)})
    reader = doctor.Reader(settings=StorageSettings.read(environment, creates_key=False))
    api, slack = ApiSettings.read(environment), SlackSettings.read(environment)
    has_bot = slack is not None and slack.app_token is not None
    return [
        doctor.settings_check(
            environment.problems,
            partial(api_doctor.contradictions, env, api, reader, has_bot=has_bot),
            partial(slack_doctor.contradictions, slack),
        ),
        *doctor.checks(reader, env, utc_now()),
        *api_doctor.checks(env, api),
        *slack_doctor.checks(slack, reader),
    ]


def warn_of_unknown_settings(env: Mapping[str, str]) -> None:
    """Name variables like settings that no package reads, on standard error."""
    environment = Environment({})
    StorageSettings.read(environment, creates_key=False)
    ApiSettings.read(environment)
    SlackSettings.read(environment)
    for sentence in unknown_settings(env, environment.names):
        click.echo(f"Warning: {sentence}", err=True)


def command_line(env: Mapping[str, str]) -> click.Group:
    """The ``hiatus`` command with all of its commands."""
    app = commands.build_app(env, utc_now)
    app.callback = partial(warn_of_unknown_settings, env)
    backups.add_to(app, env, utc_now, VERSION, commit())
    text = f"hiatus %(version)s (commit {commit()})"
    help_text = "Print the version and its commit, and exit."
    click.version_option(VERSION, message=text, help=help_text)(app)
    manifest.add_to(commands.add_slack(app, env, utc_now), env)
    app.add_command(serve_command(env))
    app.add_command(bot_command(env))
    app.add_command(doctor.command(partial(doctor_checks, env)))
    return app


def main() -> None:
    command_line(os.environ)()


if __name__ == "__main__":
    main()
