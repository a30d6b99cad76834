"""Rules for the repository: imports, private names, lock files, version and schema."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import shutil
import subprocess
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from types import ModuleType

import peewee
import pytest

from api.base.version import VERSION
from storage.db.tables import TABLES
from tests import javascript, postgres
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


OWN = ("api", "bot", "playground", "storage", "serve")
# Peewee documents the metadata of models under this name.
DOCUMENTED = frozenset({"_meta"})
# Typeshed documents this module for type checkers.
STANDARD = sys.stdlib_module_names | {"_typeshed"}


def product_files() -> list[Path]:
    files = [path for package in OWN for path in (ROOT / package).rglob("*.py")]
    return sorted([*files, ROOT / "serve.py"])


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in DOCUMENTED


def is_foreign(module: str) -> bool:
    top = module.partition(".")[0]
    return top not in OWN and top not in STANDARD


def private_uses(tree: ast.Module) -> Iterator[str]:
    """Imports of private names, and private attributes of what is imported."""
    foreign: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and is_foreign(node.module):
            foreign |= {alias.asname or alias.name for alias in node.names}
            names = [*node.module.split("."), *(alias.name for alias in node.names)]
            yield from (f"{node.module}: {name}" for name in names if is_private(name))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if is_foreign(alias.name):
                    foreign.add((alias.asname or alias.name).partition(".")[0])
                    yield from (alias.name for part in alias.name.split(".") if is_private(part))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            owner = node.value
            while isinstance(owner, ast.Attribute):
                owner = owner.value
            if isinstance(owner, ast.Name) and owner.id in foreign:
                yield ast.unparse(node)


def defined(kind: type) -> set[str]:
    """Private names that the source of a class defines: in its body, and on ``self``."""
    names = {node.attr for node in selves(kind) if isinstance(node.ctx, ast.Store)}
    statements = [each for node in class_tree(kind).body for each in getattr(node, "body", [])]
    for node in statements:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in names if is_private(name)}


@cache
def class_tree(kind: type) -> ast.Module:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(kind)))
    except (OSError, TypeError):
        # Written in C.
        return ast.Module(body=[], type_ignores=[])


def selves(kind: type) -> list[ast.Attribute]:
    return [
        node
        for node in ast.walk(class_tree(kind))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    ]


def overridden(module: ModuleType) -> Iterator[str]:
    """Private names of foreign base classes that the module's classes define or use."""
    for kind in vars(module).values():
        if not isinstance(kind, type) or kind.__module__ != module.__name__:
            continue
        foreign = [base for base in kind.__mro__ if is_foreign(base.__module__)]
        if not foreign:
            continue
        theirs = {name for base in foreign for name in defined(base)}
        used = {node.attr for node in selves(kind) if is_private(node.attr)} | defined(kind)
        yield from (f"{kind.__name__}: {name}" for name in sorted(used & theirs))


def test_no_private_name_of_a_dependency_is_used() -> None:
    uses = {path: list(private_uses(ast.parse(path.read_text()))) for path in product_files()}

    assert {module_name(path): names for path, names in uses.items() if names} == {}


@pytest.mark.slow
def test_no_private_name_of_a_dependency_is_overridden() -> None:
    files = [path for path in product_files() if "migrations" not in path.parts]
    names = {path: list(overridden(importlib.import_module(module_name(path)))) for path in files}

    assert {module_name(path): found for path, found in names.items() if found} == {}


def test_a_private_name_that_is_used_or_overridden_is_found() -> None:
    class Impatient(peewee.Database):  # type: ignore[misc]
        def _connect(self) -> None:
            self._state = None

    module = ModuleType(__name__)
    module.__dict__["Impatient"] = Impatient
    source = "import peewee\nfrom httpx._client import AsyncClient\npeewee.Model._meta._x()"

    assert sorted(overridden(module)) == ["Impatient: _connect", "Impatient: _state"]
    assert list(private_uses(ast.parse(source))) == [
        "httpx._client: _client",
        "peewee.Model._meta._x",
    ]


def test_packages_are_pinned_and_the_lock_file_names_no_host() -> None:
    package = json.loads((javascript.FOLDER / "package.json").read_text())
    locked = json.loads((javascript.FOLDER / "package-lock.json").read_text())["packages"]

    pinned = {name: locked[f"node_modules/{name}"]["version"] for name in package["dependencies"]}
    assert pinned == package["dependencies"]
    assert [name for name, entry in locked.items() if name and "integrity" not in entry] == []
    assert [name for name, entry in locked.items() if "resolved" in entry] == []


def test_a_script_sees_the_installed_packages() -> None:
    result = javascript.node("-p", "typeof require('standardwebhooks').Webhook")

    assert (result.stdout, result.stderr) == ("function\n", "")


@pytest.mark.parametrize("name", ["greenlet", "pygments", "rich"])
def test_what_libraries_import_if_it_is_there_is_not_installed(name: str) -> None:
    locked = (ROOT / "requirements.txt").read_text(encoding="utf-8")

    assert f"\n{name}==" not in locked
