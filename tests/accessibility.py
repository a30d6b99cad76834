"""What axe-core finds on a page that a browser shows."""

from __future__ import annotations

from functools import cache
from typing import Any

from playwright.sync_api import Page

from tests import javascript

_RUN = """async () => {
  const result = await axe.run({ resultTypes: ["violations"] });
  return result.violations.flatMap((rule) =>
    rule.nodes.map((node) => `${rule.id}: ${node.target} ${node.html.slice(0, 120)}`));
}"""


def violations(page: Page) -> list[str]:
    """One line for each element that breaks a rule. Raises javascript.NotInstalled."""
    page.evaluate(_axe())
    found: Any = page.evaluate(_RUN)
    return [str(line) for line in found]


@cache
def _axe() -> str:
    javascript.install()
    path = javascript.FOLDER / "node_modules/axe-core/axe.min.js"
    return path.read_text(encoding="utf-8")
