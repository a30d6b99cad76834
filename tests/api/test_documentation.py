"""`/docs` and what it loads, as a browser would ask for it."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from urllib.parse import unquote

import httpx
import pytest

from api.documentation import documentation
from api.service import app
from api.service.app import OPERATIONS, OTHER_PATHS
from tests import swagger_ui
from tests.api.conftest import SETTINGS, Client

pytestmark = pytest.mark.shared_database

PAGES = ["/docs", "/docs/errors"]


@pytest.fixture
def client() -> Iterator[Client]:
    """A client of the documentation alone, which needs no database."""
    routes = documentation.routes(OPERATIONS, OTHER_PATHS, SETTINGS.base_url)
    client = Client(app.application(routes, SETTINGS))
    yield client
    client.close()


def links(page: httpx.Response) -> list[str]:
    """Every address in a page's tags, in full."""
    return [
        str(page.url.join(address)) for address in re.findall(r'(?:href|src)="([^"#]+)"', page.text)
    ]


def assets(client: Client, page: str) -> list[str]:
    return [address for address in links(client.get(page)) if "/docs/assets/" in address]


def directives(response: httpx.Response) -> dict[str, list[str]]:
    policy = response.headers["Content-Security-Policy"]
    return {name: of for name, *of in (part.split() for part in policy.split("; "))}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_refers_to_nothing_elsewhere(client: Client, page: str) -> None:
    response = client.get(page)

    assert (response.status_code, response.headers["Content-Type"]) == (
        200,
        "text/html; charset=utf-8",
    )
    addresses = links(response)
    assert addresses
    assert [
        address for address in addresses if not address.startswith("https://hiatus.test/")
    ] == []
    assert [client.get(address).status_code for address in addresses] == [200] * len(addresses)
    assert re.findall(r"<script(?![^>]* src=)|<style| style=| on[a-z]+=", response.text) == []


def test_the_reference_lists_every_operation_below_its_tag(client: Client) -> None:
    document = client.get("/openapi.json").json()
    paths = [*document["paths"].values(), *document["webhooks"].values()]
    described = [operation for methods in paths for operation in methods.values()]

    linked = re.findall(r'<a href="#/([^"]+)/([^"/]+)"', client.get("/docs").text)

    assert sorted((unquote(tag), name) for tag, name in linked) == sorted(
        (tag, operation["operationId"]) for operation in described for tag in operation["tags"]
    )


@pytest.mark.parametrize("path", [*PAGES, "/openapi.json"])
def test_the_policy_is_strict(client: Client, path: str) -> None:
    response = client.get(path)

    policy = directives(response)
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == ["'none'"]
    assert policy["frame-ancestors"] == ["'none'"]
    assert policy["script-src"] == ["'self'"]
    allowed = {source for sources in policy.values() for source in sources}
    assert allowed <= {"'none'", "'self'", "data:"}
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] == "no-referrer"


def test_assets_are_cached_forever_because_their_address_has_their_version(client: Client) -> None:
    addresses = assets(client, "/docs")

    assert len(addresses) == 5
    for address in addresses:
        response = client.get(address)
        assert response.headers["Cache-Control"] == "public, max-age=31536000, immutable"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        version = address.split("/")[-2]
        assert response.headers["ETag"].strip('"').startswith(version)


def test_an_outdated_asset_address_is_served_and_not_cached(client: Client) -> None:
    response = client.get("/docs/assets/0123456789abcdef/documentation.js")

    assert (response.status_code, response.headers["Cache-Control"]) == (200, "no-cache")


@pytest.mark.parametrize("name", ["nothing.js", "..%2fapp.py", "package.json", "__init__.py"])
def test_other_files_are_not_served(client: Client, name: str) -> None:
    response = client.get(f"/docs/assets/0123456789abcdef/{name}")

    assert (response.status_code, response.json()["code"]) == (404, "not_found")


def test_language_models_are_told_where_to_read(client: Client) -> None:
    response = client.get("/llms.txt")

    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert response.text.startswith("# Hiatus\n\n> ")
    links = re.findall(r"\]\(https://hiatus\.test(\S+)\)", response.text)
    assert links == ["/openapi.json", "/docs", "/docs/errors"]
    assert [client.get(link).status_code for link in links] == [200] * 3


@pytest.mark.parametrize("path", [*PAGES, "/openapi.json"])
def test_an_unchanged_page_answers_304(client: Client, path: str) -> None:
    first = client.get(path)
    tag = first.headers["ETag"]

    again = client.get(path, headers={"If-None-Match": f'"other", W/{tag}'})
    other = client.get(path, headers={"If-None-Match": '"other"'})

    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    assert first.headers["Cache-Control"] == "no-cache"
    assert other.status_code == 200


def test_compressed_and_plain_pages_have_different_tags(client: Client) -> None:
    plain = client.get("/openapi.json", headers={"Accept-Encoding": "identity"})
    compressed = client.get("/openapi.json", headers={"Accept-Encoding": "gzip"})

    assert "Content-Encoding" not in plain.headers
    assert compressed.headers["Content-Encoding"] == "gzip"
    # The client has unpacked it.
    assert compressed.content == plain.content
    assert int(compressed.headers["Content-Length"]) < len(gzip.compress(plain.content)) * 1.1
    assert plain.headers["ETag"] != compressed.headers["ETag"]
    assert plain.headers["Vary"] == compressed.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("page", PAGES)
def test_a_slash_at_the_end_leads_to_the_page(client: Client, page: str, method: str) -> None:
    response = client.request(method, f"{page}/?token=secret")

    assert response.status_code == 308
    # Relative, as the proxy may serve Hiatus below a path.
    assert response.headers["Location"] == f"../{page.rpartition('/')[2]}"
    assert response.url.join(response.headers["Location"]).path == page


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_browsers_find_an_icon_without_a_page(client: Client, method: str) -> None:
    response = client.request(method, "/favicon.ico")
    again = client.get("/favicon.ico", headers={"If-None-Match": response.headers["ETag"]})

    assert response.status_code == 200
    assert response.headers["Content-Type"] == "image/vnd.microsoft.icon"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cache-Control"] == "public, max-age=86400"
    assert (again.status_code, again.content) == (304, b"")


def test_a_favicon_is_an_icon_of_two_sizes(client: Client) -> None:
    icon = client.get("/favicon.ico").content

    assert icon[:6] == b"\0\0\1\0\2\0"
    assert [icon[6], icon[22]] == [16, 32]


def test_swagger_ui_is_the_version_that_its_package_names() -> None:
    bundle = (swagger_ui.FOLDER / "swagger-ui-bundle.js").read_text()

    assert f'PACKAGE_VERSION:"{swagger_ui.version()}"' in bundle
    assert sorted(path.name for path in swagger_ui.FOLDER.iterdir()) == sorted(swagger_ui.FILES)
