"""The documents' links, settings, commands and routes exist in the repository."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import serve
from api.documentation import error_codes
from api.service.app import OPERATIONS, OTHER_PATHS
from storage.operations import leave_file, people_file

ROOT = Path(__file__).parents[1]
SOURCES = [
    ROOT / "serve.py",
    *(
        path
        for part in ("api", "bot", "storage", "playground", "tests")
        for path in (ROOT / part).rglob("*.py")
        if "node_modules" not in path.parts
    ),
]
# Scripts and style sheets of ours; swagger-ui is not.
STATIC_FILES = [
    path
    for folder in ("api/website/static", "playground/static")
    for pattern in ("*.js", "*.css")
    for path in (ROOT / folder).glob(pattern)
]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")], key=lambda path: path.as_posix()
)
# What hosting platforms set.
PLATFORMS = {"RENDER_EXTERNAL_URL", "RAILWAY_PUBLIC_DOMAIN", "HEROKU_APP_DEFAULT_DOMAIN_NAME"}
# Say the approver, the caller, the user; they; recalculate, fixed, comma-separated.
UNCLEAR_WORDS = {
    *("anybody", "everybody", "nobody", "somebody", "whoever"),
    *("he", "him", "himself", "his", "she", "her", "hers"),
    *("anew", "leafed", "mended", "parted", "therein", "thereof"),
}
# The column of the Home tab's cursors keeps its name until its table is rewritten.
NAMES_OF_COLUMNS = {"leafed"}
# Tests have a cast of named women, and run PostgreSQL with the account that has this name.
WORDS_OF_TESTS = {"she", "her", "hers", "nobody"}
# They list English words.
LISTS_OF_WORDS = {
    Path(__file__),
    ROOT / "tests" / "bot" / "test_translated_screens.py",
    ROOT / "tests" / "bot" / "test_typed_spanish.py",
    # What people type.
    ROOT / "bot" / "parsing" / "typed_phrases.py",
    ROOT / "bot" / "parsing" / "typed_questions.py",
    *(ROOT / "bot" / "parsing" / f"{name}.py" for name in ("french", "german", "spanish")),
}


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def prose(path: Path) -> str:
    """A page without its blocks of code."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r"^( *)```.*?^\1```", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    slugs: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
        slugs.add(re.sub(r"[^\w\- ]", "", text).replace(" ", "-"))
    return slugs


def links(path: Path) -> Iterator[str]:
    """The relative links and pictures of a page."""
    without_code = re.sub(r"`[^`]*`", "code", prose(path))
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code):
        if not re.match(r"[a-z]+:", target):
            yield target


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_of_a_page_has_a_target(page: Path) -> None:
    for link in links(page):
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), f"{name_of(page)}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{name_of(page)}: {link}"


def test_every_page_is_linked() -> None:
    linked = {
        (page.parent / link.partition("#")[0]).resolve() for page in PAGES for link in links(page)
    }

    unlinked = [name_of(page) for page in PAGES if page not in linked]

    assert unlinked == ["README.md"]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_uses_the_terms_of_the_field(page: Path) -> None:
    words = re.findall(r"[a-z']+", prose(page).lower())

    assert sorted(UNCLEAR_WORDS.intersection(words)) == []


def test_the_code_uses_the_terms_of_the_field() -> None:
    unclear = {
        (name_of(path), word)
        for path in [*SOURCES, *STATIC_FILES]
        if path not in LISTS_OF_WORDS
        for word in UNCLEAR_WORDS.difference(
            NAMES_OF_COLUMNS, WORDS_OF_TESTS if path.is_relative_to(ROOT / "tests") else ()
        ).intersection(re.findall(r"[a-z_']+", path.read_text(encoding="utf-8").lower()))
    }

    assert sorted(unclear) == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_is_short(page: Path) -> None:
    if page.name == "CHANGELOG.md":  # It only grows.
        return

    lines = len(page.read_text(encoding="utf-8").splitlines())

    assert lines <= 200


def test_the_settings_page_has_the_settings_of_the_code() -> None:
    names = ["api/base/settings.py", "bot/base/settings.py"]
    names += ["storage/base/environment.py", "storage/base/settings.py"]
    code = "".join((ROOT / name).read_text(encoding="utf-8") for name in names)
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    rows = "".join(line for line in page.splitlines() if line.startswith("| `"))

    read = set(re.findall(r'"([A-Z]+_[A-Z_]+)"', code))

    assert set(re.findall(r"`([A-Z]+_[A-Z_]+)`", rows)) == read - PLATFORMS
    assert all(f"`{name}`" in page for name in PLATFORMS)


def test_every_setting_that_a_page_names_exists() -> None:
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")

    named = {
        name
        for path in PAGES
        if path.name != "CHANGELOG.md"
        for name in re.findall(r"\bHIATUS_[A-Z_]+[A-Z]\b", path.read_text(encoding="utf-8"))
    }

    unknown = {
        name
        for name in named
        if f"`{name}`" not in page and f"`{name.removesuffix('_FILE')}` *" not in page
    }
    assert unknown == set()


def test_the_import_page_has_the_columns_of_the_file() -> None:
    page = (ROOT / "docs" / "import.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]

    assert re.findall(r"`(\w+)`", "".join(rows)) == [
        *people_file.COLUMNS,
        *leave_file.COLUMNS,
    ]


def test_the_commands_page_has_the_commands_and_options_of_the_code() -> None:
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
    rows = "".join(line for line in page.splitlines() if line.startswith("| `"))

    names, options = _names_and_options(serve.command_line({}), ())

    assert [name for name in names if not re.search(rf"`(hiatus )?{name}\b", rows)] == []
    assert set(re.findall(r"--[\w-]+", rows)) == options


def _names_and_options(command: Any, path: tuple[str, ...]) -> tuple[list[str], set[str]]:
    """The names of the commands below this one, and all of their options."""
    options = {name for parameter in command.params for name in parameter.opts if "--" in name}
    if not hasattr(command, "commands"):
        return [" ".join(path)], options
    names: list[str] = []
    for name, below in command.commands.items():
        more_names, more_options = _names_and_options(below, (*path, name))
        names += more_names
        options |= more_options
    return names, options


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_file_of_the_code_that_a_page_names_exists(page: Path) -> None:
    if page.name == "CHANGELOG.md":
        return

    named = re.findall(r"`((?:api|bot|playground|storage|tests)/[\w/.-]+)`", prose(page))

    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_route_that_a_page_names_exists() -> None:
    served: set[tuple[str, str]] = {
        (operation.method, _template(operation.path)) for operation in OPERATIONS
    }
    served |= {
        (method.upper(), _template(path)) for path, item in OTHER_PATHS.items() for method in item
    }
    named = {
        (method, _template(path.partition("?")[0]))
        for page in PAGES
        if page.name != "CHANGELOG.md"
        for method, path in re.findall(r"`(GET|POST|PATCH|DELETE)\s+(/[^`\s]*)`", prose(page))
    }

    assert named
    assert {f"{method} {path}" for method, path in named - served} == set()


def _template(path: str) -> str:
    """A path below `/api/v1`, with one name for every parameter."""
    return re.sub(r"\{\w+\}", "{}", path.removeprefix("/api/v1"))


def test_every_error_code_that_a_page_names_exists() -> None:
    existing = {error.code for error in error_codes.every_code(OPERATIONS)}
    named = {
        code for page in PAGES for code in re.findall(r"\b[45]\d\d\s+`([a-z_]+)`", prose(page))
    }

    assert named
    assert named - existing == set()


OPERATIONS_PAGES = ROOT / "docs" / "operations"
RUNBOOK_INDEX = (OPERATIONS_PAGES / "README.md").read_text(encoding="utf-8")
# The table of the index: what you see, and the page.
RUNBOOKS = [
    OPERATIONS_PAGES / name
    for name in re.findall(r"^\| .* \| \[.*\]\((.*)\) \|$", RUNBOOK_INDEX, re.MULTILINE)
]


def test_the_index_of_runbooks_names_every_page_of_its_folder() -> None:
    for page in OPERATIONS_PAGES.glob("*.md"):
        assert page.name == "README.md" or f"]({page.name})" in RUNBOOK_INDEX, page.name
    assert len(RUNBOOKS) >= 7


@pytest.mark.parametrize("page", RUNBOOKS, ids=name_of)
def test_a_runbook_leads_from_the_symptom_to_what_follows(page: Path) -> None:
    text = page.read_text(encoding="utf-8")

    headings = re.findall(r"^## (.+)$", prose(page), re.MULTILINE)

    assert headings == ["Symptom", "Check", "Do", "Afterwards"]
    assert len(text.splitlines()) <= 90


@pytest.mark.parametrize("page", [*RUNBOOKS, ROOT / "docs" / "upgrades.md"], ids=name_of)
def test_the_commands_of_a_runbook_exist(page: Path) -> None:
    blocks = re.findall(r"^```\w*\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    commands = [line.partition("#")[0].split()[1:] for line in lines if line.startswith("hiatus ")]
    for words in commands:
        command: click.Command = serve.command_line({})
        while isinstance(command, click.Group):
            assert words, f"{name_of(page)}: a group without its command"
            name = words.pop(0)
            assert name in command.commands, f"{name_of(page)}: {name}"
            command = command.commands[name]
        options = {option for param in command.params for option in param.opts}
        assert {word for word in words if word.startswith("--")} <= options, name_of(page)
