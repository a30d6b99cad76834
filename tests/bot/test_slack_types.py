"""The check with @slack/types finds what Slack would refuse; ``test_german`` uses it."""

from __future__ import annotations

from pathlib import Path

from tests import slack_types
from tests.bot.world import FIRST_DAY


def test_the_compiler_refuses_what_slack_has_not(tmp_path: Path) -> None:
    text = {"type": "mrkdwn", "text": str(FIRST_DAY)}
    plain = {"type": "plain_text", "text": "Title"}
    menu = {"type": "overflow", "options": [{"text": plain, "value": "x"}]}

    problems = slack_types.problems(
        tmp_path,
        messages=[
            [{"type": "card", "title": text}],
            [{"type": "card", "title": plain}],
            [{"type": "card", "title": text, "actions": [menu]}],
            [{"type": "card", "title": text, "footer": text}],
        ],
        views=[{"type": "home", "blocks": [{"type": "card", "title": text}], "footer": text}],
    )

    assert [line.split("(")[1].split(",")[0] for line in problems] == ["2", "3", "4", "5"]
