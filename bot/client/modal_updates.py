"""Refreshes modals after selections, so that the latest selection wins.

Slack refuses an update whose ``hash`` is not the view's latest. Two quick selections carry the same
hash, so the second would be lost: it waits here for the first one's update, and uses its hash. If
another process handled the first one, the second overwrites it, without a hash.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.base.block_kit import View
from bot.base.payloads import Body
from bot.client import slack_web
from storage.base.caches import LRUCache

# The number of open modals remembered; in others the latest selection may be lost.
MAX_REMEMBERED: Final = 1_000
# The view was closed, or another process updated it first.
OVERTAKEN: Final = frozenset(("hash_conflict", "not_found"))


class _OpenView:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.newest = ""
        self.hashes: list[str] = []


class ModalRefreshes:
    """One per process."""

    def __init__(self) -> None:
        self._views: LRUCache[str, _OpenView] = LRUCache(MAX_REMEMBERED)

    async def refresh(
        self,
        client: AsyncWebClient,
        body: Body,
        render: Callable[[], Awaitable[View]],
        *,
        shows_one_form: bool,
    ) -> None:
        """Show the result of ``render``, unless a later selection was shown already.

        ``shows_one_form``: the view shows nothing else while it is open, such as what was sent.
        Only such a view is overwritten if its hash is unknown. Raises the errors in
        ``slack_web.FAILURES`` and those of ``render``.
        """
        shown, picked_at = body["view"], str(body["actions"][0].get("action_ts", ""))
        view = self._of(str(shown["id"]))
        view.newest = max(view.newest, picked_at)
        async with view.lock:
            if picked_at < view.newest:
                return  # The later selection includes this one's values.
            seen_hash = str(shown["hash"])
            latest = view.hashes[-1] if seen_hash in view.hashes else seen_hash
            rendered = await render()
            updated = await _update(client, str(shown["id"]), latest, rendered)
            if updated is None and shows_one_form:
                updated = await _update(client, str(shown["id"]), None, rendered)
            if updated is not None:
                view.hashes = [*view.hashes[-8:], seen_hash, updated]

    def _of(self, view_id: str) -> _OpenView:
        view = self._views.get(view_id)
        if view is None:
            view = _OpenView()
            self._views.put(view_id, view)
        return view


async def _update(
    client: AsyncWebClient, view_id: str, seen_hash: str | None, view: View
) -> str | None:
    """The hash of the updated view; None if it was closed, or updated by another process."""
    try:
        response = await client.views_update(view_id=view_id, hash=seen_hash, view=view)
    except SlackApiError as failure:
        if slack_web.error_code(failure) not in OVERTAKEN:
            raise
        return None
    return str(response["view"]["hash"])
