"""Bad rows that Hiatus does not write: they stand for a bug, a restore or a manual change."""

from __future__ import annotations

from typing import Final

from tests import outside
from tests.builders import Acme

# Each makes reading the organisation, or working with it, fail.
DAMAGES: Final = ("timezone = 'Mars/Olympus'", "working_days = '{'")


def damaged(url: str, acme: Acme, damage: str) -> None:
    """Write ``damage`` into the organisation's row, as of a workspace that has the app."""
    outside.run(
        url,
        f"UPDATE organisations SET {damage}, slack_team_id = COALESCE(slack_team_id, 'TBAD'), "
        f"reference_version = reference_version + 1 WHERE id = '{acme.id}'",
    )
