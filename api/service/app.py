"""Builds the REST routes and the ASGI application."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.routing import BaseRoute

from api.base.metrics import Metrics
from api.base.settings import ApiSettings
from api.documentation import documentation
from api.feeds import feed_endpoint
from api.http import endpoints
from api.http.errors import exception_handlers
from api.http.operations import Clock, Operation, Services
from api.http.rate_limits import RateLimits
from api.routes import (
    absence_limits,
    allowances,
    api_keys,
    approvals,
    audit,
    balances,
    calendar_feeds,
    closures,
    departments,
    digests,
    display_links,
    employment,
    file_links,
    health,
    imports,
    interruptions,
    leave,
    leave_requests,
    leave_types,
    me,
    organisation,
    personal_data,
    public_holidays,
    reports,
    time_credits,
    users,
    webhooks,
)
from api.routes import metrics as metrics_route
from api.service.request_middleware import RequestMiddleware
from api.wallchart import wallchart_endpoint, wallchart_requests
from api.website import error_pages, welcome
from api.website.welcome import Website
from storage.db.database import Database

# Entered when the application starts, exited when it stops.
Lifespan = Callable[[Starlette], AbstractAsyncContextManager[None]]

# In the order in which the documentation shows them.
OPERATIONS: Final[tuple[Operation, ...]] = (
    *me.OPERATIONS,
    *users.OPERATIONS,
    *personal_data.OPERATIONS,
    *imports.OPERATIONS,
    *employment.OPERATIONS,
    *allowances.OPERATIONS,
    *balances.OPERATIONS,
    *time_credits.OPERATIONS,
    *reports.OPERATIONS,
    *departments.OPERATIONS,
    *leave_requests.OPERATIONS,
    *interruptions.OPERATIONS,
    *leave.OPERATIONS,
    *approvals.OPERATIONS,
    *leave_types.OPERATIONS,
    *calendar_feeds.OPERATIONS,
    *display_links.OPERATIONS,
    *organisation.OPERATIONS,
    *public_holidays.OPERATIONS,
    *closures.OPERATIONS,
    *absence_limits.OPERATIONS,
    *digests.OPERATIONS,
    *webhooks.OPERATIONS,
    *audit.OPERATIONS,
    *api_keys.OPERATIONS,
)
# Paths without a key and without an Operation.
OTHER_PATHS: Final[Mapping[str, Mapping[str, object]]] = {
    **feed_endpoint.PATHS,
    **wallchart_requests.PATHS,
    **file_links.PATHS,
    **health.PATHS,
    **metrics_route.PATHS,
}


def services(
    database: Database, settings: ApiSettings, clock: Clock, rate_limits: RateLimits | None
) -> Services:
    """What the handlers of these settings use."""
    return Services(
        database=database,
        clock=clock,
        base_url=settings.base_url,
        allow_private_webhooks=settings.webhook_allow_private,
        allow_loopback_webhooks=settings.webhook_allow_loopback,
        rate_limits=rate_limits,
    )


def routes(
    database: Database,
    settings: ApiSettings,
    clock: Clock,
    rate_limits: RateLimits | None = None,
    metrics: Metrics | None = None,
    site: Website | None = None,
) -> list[BaseRoute]:
    """All REST routes. ``clock`` returns aware UTC datetimes.

    The caller closes ``rate_limits``; by default they are made from the settings. ``metrics`` are
    those of the middleware and the dispatchers. ``site`` is what `/` says about this deployment.
    """
    rate_limits = rate_limits or RateLimits(
        settings.rate_limit, settings.rate_limit_storage, per_feed=settings.feed_rate_limit
    )
    served = services(database, settings, clock, rate_limits)
    return [
        # Polled routes come first, because routes are tried in order.
        *feed_endpoint.routes(served),
        *health.routes(served),
        *endpoints.routes(OPERATIONS, served),
        *metrics_route.routes(served, metrics or Metrics()),
        *file_links.routes(served),
        *wallchart_endpoint.routes(served),
        *welcome.routes(site or Website(), settings.base_url),
        *documentation.routes(OPERATIONS, OTHER_PATHS, settings.base_url),
    ]


def application(
    routes: Sequence[BaseRoute],
    settings: ApiSettings,
    metrics: Metrics | None = None,
    lifespan: Lifespan | None = None,
) -> Starlette:
    """The routes as one ASGI application with its ``lifespan``."""
    options = {} if metrics is None else {"observe": metrics.observe_request}
    application = Starlette(
        routes=routes,
        middleware=[Middleware(RequestMiddleware, settings.base_url, **options)],
        exception_handlers={
            kind: error_pages.for_browsers(handler)
            for kind, handler in exception_handlers(settings.base_url).items()
        },
        lifespan=lifespan,
    )
    # A path with an extra slash is a 404, not a redirect.
    application.router.redirect_slashes = False
    return application
