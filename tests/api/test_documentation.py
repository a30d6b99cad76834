"""`/docs` and what it loads, as a browser would ask for it."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator

import httpx
import pytest

from api.documentation import documentation, openapi
from api.service import app
from api.service.app import OPERATIONS, OTHER_PATHS
from tests import swagger_ui
from tests.api.conftest import SETTINGS, Client

PAGES = ["/docs", "/docs/errors"]


@pytest.fixture
def client() -> Iterator[Client]:
    """Of the documentation alone, which needs no database."""
    routes = documentation.routes(
        lambda: openapi.document(OPERATIONS, OTHER_PATHS, SETTINGS.base_url)
    )
    client = Client(app.application(routes, SETTINGS))
    yield client
    client.close()


def links(page: httpx.Response) -> list[str]:
    """Every address in a page's tags, in full."""
    return [
        str(page.url.join(found)) for found in re.findall(r'(?:href|src)="([^"#]+)"', page.text)
    ]


def assets(client: Client, page: str) -> list[str]:
    return [one for one in links(client.get(page)) if "/docs/assets/" in one]


def directives(answer: httpx.Response) -> dict[str, list[str]]:
    policy = answer.headers["Content-Security-Policy"]
    return {name: of for name, *of in (part.split() for part in policy.split("; "))}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_refers_to_nothing_elsewhere(client: Client, page: str) -> None:
    answer = client.get(page)

    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    found = links(answer)
    assert found
    assert [one for one in found if not one.startswith("https://hiatus.test/")] == []
    assert [client.get(one).status_code for one in found] == [200] * len(found)
    assert re.findall(r"<script(?![^>]* src=)|<style| style=| on[a-z]+=", answer.text) == []


@pytest.mark.parametrize("path", [*PAGES, "/openapi.json"])
def test_the_policy_is_strict(client: Client, path: str) -> None:
    answer = client.get(path)

    policy = directives(answer)
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == ["'none'"]
    assert policy["frame-ancestors"] == ["'none'"]
    assert policy["script-src"] == ["'self'"]
    allowed = {source for sources in policy.values() for source in sources}
    assert allowed <= {"'none'", "'self'", "data:"}
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] == "no-referrer"


def test_assets_are_cached_forever_because_their_address_has_their_version(client: Client) -> None:
    found = assets(client, "/docs")

    assert len(found) == 5
    for address in found:
        answer = client.get(address)
        assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        version = address.split("/")[-2]
        assert answer.headers["ETag"].strip('"').startswith(version)


def test_an_old_address_of_an_asset_is_served_and_not_cached(client: Client) -> None:
    answer = client.get("/docs/assets/0123456789abcdef/documentation.js")

    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-cache")


@pytest.mark.parametrize("name", ["nothing.js", "..%2fapp.py", "package.json", "__init__.py"])
def test_other_files_are_not_served(client: Client, name: str) -> None:
    answer = client.get(f"/docs/assets/0123456789abcdef/{name}")

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("path", [*PAGES, "/openapi.json"])
def test_a_cached_page_is_not_sent_again(client: Client, path: str) -> None:
    first = client.get(path)
    tag = first.headers["ETag"]

    again = client.get(path, headers={"If-None-Match": f'"other", W/{tag}'})
    other = client.get(path, headers={"If-None-Match": '"other"'})

    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    assert first.headers["Cache-Control"] == "no-cache"
    assert other.status_code == 200


def test_compressed_and_plain_are_the_same_with_tags_of_their_own(client: Client) -> None:
    plain = client.get("/openapi.json", headers={"Accept-Encoding": "identity"})
    compressed = client.get("/openapi.json", headers={"Accept-Encoding": "gzip"})

    assert "Content-Encoding" not in plain.headers
    assert compressed.headers["Content-Encoding"] == "gzip"
    # The client has unpacked it.
    assert compressed.content == plain.content
    assert int(compressed.headers["Content-Length"]) < len(gzip.compress(plain.content)) * 1.1
    assert plain.headers["ETag"] != compressed.headers["ETag"]
    assert plain.headers["Vary"] == compressed.headers["Vary"] == "Accept-Encoding"


def test_a_page_is_read_only(client: Client) -> None:
    refused = client.post("/docs")
    head = client.request("HEAD", "/docs")

    assert (refused.status_code, refused.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert head.status_code == 200


def test_swagger_ui_is_the_version_that_its_package_names() -> None:
    bundle = (swagger_ui.FOLDER / "swagger-ui-bundle.js").read_text()

    assert f'PACKAGE_VERSION:"{swagger_ui.version()}"' in bundle
    assert sorted(path.name for path in swagger_ui.FOLDER.iterdir()) == sorted(swagger_ui.FILES)
