"""The REST side put together: its routes, and what makes any routes an application."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Mount, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from api.base.metrics import Metrics
from api.base.settings import ApiSettings
from api.documentation import documentation, openapi
from api.feeds import calendar
from api.http.endpoints import Endpoint
from api.http.key_use import KeyUse
from api.http.operations import Clock, Edge, Operation
from api.http.rate_limits import RateLimits
from api.routes import (
    api_keys,
    approvals,
    audit,
    balances,
    calendar_feeds,
    departments,
    health,
    leave,
    leave_requests,
    leave_types,
    organisation,
    public_holidays,
    users,
    webhooks,
)
from api.routes import metrics as metrics_route
from api.service.application import Application
from storage.db.database import Database

# Entered with the application when it starts, left when it ends.
Lifespan = Callable[[Any], AbstractAsyncContextManager[None]]

# In the order in which the documentation shows them.
OPERATIONS: Final[tuple[Operation, ...]] = (
    *users.OPERATIONS,
    *balances.OPERATIONS,
    *departments.OPERATIONS,
    *leave_requests.OPERATIONS,
    *leave.OPERATIONS,
    *approvals.OPERATIONS,
    *leave_types.OPERATIONS,
    *calendar_feeds.OPERATIONS,
    *organisation.OPERATIONS,
    *public_holidays.OPERATIONS,
    *webhooks.OPERATIONS,
    *audit.OPERATIONS,
    *api_keys.OPERATIONS,
)
# What is served without a key and without an Operation.
OTHER_PATHS: Final[Mapping[str, Any]] = {**calendar.PATHS, **health.PATHS, **metrics_route.PATHS}


def routes(
    database: Database,
    settings: ApiSettings,
    clock: Clock,
    rate_limits: RateLimits | None = None,
    metrics: Metrics | None = None,
) -> list[BaseRoute]:
    """Everything that REST serves. ``clock`` gives aware UTC datetimes.

    ``rate_limits`` are the caller's to close; without them they are made from the settings.
    ``metrics`` are those that ``middleware`` and the dispatchers count in.
    """
    rate_limits = rate_limits or RateLimits(
        settings.rate_limit, settings.rate_limit_storage, per_feed=settings.feed_rate_limit
    )
    edge = Edge(
        database,
        clock,
        settings.base_url,
        settings.webhook_allow_private,
        KeyUse(database),
        rate_limits,
    )
    return [
        Mount("/api/v1", app=FirstSegment(endpoints(OPERATIONS, edge))),
        *calendar.routes(edge),
        *health.routes(edge),
        *metrics_route.routes(edge, metrics or Metrics()),
        *documentation.routes(lambda: openapi.document(OPERATIONS, OTHER_PATHS, settings.base_url)),
    ]


def application(
    routes: Sequence[BaseRoute],
    settings: ApiSettings,
    metrics: Metrics | None = None,
    lifespan: Lifespan | None = None,
) -> ASGIApp:
    """The routes as one ASGI application; ``lifespan`` surrounds all that it serves."""
    # A path with a slash too many is nobody's, not a redirect.
    router = Router(routes, redirect_slashes=False, lifespan=lifespan)
    counting = {} if metrics is None else {"observe": metrics.observe_request}
    return Application(router, settings.base_url, **counting)


def endpoints(operations: tuple[Operation, ...], edge: Edge) -> dict[str, list[Route]]:
    """The routes by their path's first segment, fixed paths before those that hold ids."""
    by_segment: dict[str, list[Route]] = {}
    in_order = sorted(operations, key=lambda one: ("{" in one.path, one.path))
    for path, of_path in groupby(in_order, attrgetter("path")):
        endpoint = Endpoint(list(of_path), edge, operations)
        # For every method: a path with an id must not take what a fixed one before it refuses.
        route = Route(path, endpoint)
        by_segment.setdefault(path.split("/")[1], []).append(route)
    return by_segment


class FirstSegment:
    """Hands a request to its resource's routes, however many resources there are.

    Trying every route in turn costs more than serving the request does.
    """

    def __init__(self, by_segment: Mapping[str, list[Route]]) -> None:
        self._routers = {
            segment: Router(found, redirect_slashes=False) for segment, found in by_segment.items()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"].removeprefix(scope["root_path"])
        router = self._routers.get(path.split("/", 2)[1])
        if router is None:
            raise HTTPException(404)
        await router(scope, receive, send)
