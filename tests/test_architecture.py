"""Rules for the whole repository: import contracts, lock files, version and schema."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import chain
from pathlib import Path

import peewee
import pytest

from api.base.version import VERSION
from storage.db.tables import TABLES
from tests import postgres
from tests.schemas import schema_of

ROOT = Path(__file__).parent.parent


def test_import_contracts_hold() -> None:
    result = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )

    assert result.returncode == 0, result.stdout


def test_a_production_process_never_imports_the_playground(sqlite_url: str) -> None:
    program = """
import sys, serve
settings = serve.Settings.from_env({
    "DATABASE_URL": sys.argv[1],
    "BASE_URL": "https://hiatus.example.com",
    "HIATUS_SLACK_BOT_TOKEN": "xoxb-1",
    "HIATUS_SLACK_SIGNING_SECRET": "secret",
})
serve.build(settings, serve.open_database(settings), serve.utc_now)
print([name for name in sys.modules if name.startswith("playground")])
"""

    result = subprocess.run(
        [sys.executable, "-c", program, sqlite_url],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )

    assert result.stdout == "[]\n"


@pytest.mark.parametrize("package", ["api", "bot", "playground", "storage"])
def test_a_package_is_imported_from_this_repository(package: str) -> None:
    spec = find_spec(package)

    assert spec is not None
    assert spec.origin == str(ROOT / package / "__init__.py")


def test_every_dependency_has_a_lower_bound() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"].values()

    unbounded = [name for name in chain(project["dependencies"], *extras) if ">=" not in name]

    assert unbounded == []


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_locked_requirement_has_an_exact_version_and_a_hash(name: str) -> None:
    lines = [line for line in (ROOT / name).read_text().splitlines() if "# via" not in line]
    requirements = re.split(r"\n(?=[a-zA-Z])", "\n".join(lines))

    assert [line for line in requirements if "--hash=sha256:" not in line] == []
    assert [line for line in requirements if not re.match(r"[\w.\[\]-]+==\d", line)] == []


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_lock_file_names_no_registry(name: str) -> None:
    text = (ROOT / name).read_text()

    assert re.findall(r"\S*://\S*|--\S*(?:index|links|host)\S*", text) == []


def test_development_runs_on_the_locked_versions_of_production() -> None:
    production = _pins("requirements.txt")

    assert production - _pins("requirements-dev.txt") == set()


def _pins(name: str) -> set[str]:
    return set(re.findall(r"^[\w.\[\]-]+==[^\\\n]+", (ROOT / name).read_text(), re.MULTILINE))


def test_version_is_the_newest_in_the_changelog() -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    headings = re.findall(
        r"^## \[?(\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )

    assert headings[0] == VERSION
    assert tools["setuptools"]["dynamic"]["version"] == {"attr": "api.base.version.VERSION"}


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git to list the files")
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="a copy without its repository")
def test_no_file_names_a_path_of_a_developers_machine() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    )
    paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    machine_path = re.compile(rb"(?<![\w.:/])/(?:home|root|Users|work)/")

    revealing = [
        path.name for path in paths if path.is_file() and machine_path.search(path.read_bytes())
    ]

    assert revealing == []


def test_migrations_make_the_tables_of_the_models_on_sqlite(
    sqlite_url: str, tmp_path: Path
) -> None:
    database = peewee.SqliteDatabase(str(tmp_path / "models.db"))
    _create_tables(database)

    assert schema_of(sqlite_url) == schema_of(f"sqlite:///{tmp_path}/models.db")


def test_migrations_make_the_tables_of_the_models_on_postgresql(
    postgres_url: str, empty_postgres_url: str
) -> None:
    _create_tables(peewee.PostgresqlDatabase(empty_postgres_url, prefer_psycopg3=True))

    assert schema_of(postgres_url) == schema_of(empty_postgres_url)


@pytest.fixture
def empty_postgres_url(postgres_server: str, postgres_url: str) -> Iterator[str]:
    """A database without tables; its name is that of ``postgres_url`` and a word."""
    name = postgres_url.rpartition("/")[2].partition("?")[0]
    url = postgres.make_database(postgres_server, f"{name}_models")
    yield url
    postgres.drop_database(url)


def _create_tables(database: peewee.Database) -> None:
    # In this order: Database.create_tables sorts by name and ignores the foreign keys.
    with database.connection_context(), database.bind_ctx(TABLES):
        for table in TABLES:
            table.create_table(safe=False)
