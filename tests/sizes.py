"""Counts lines, modules, tests and dependencies: ``python -m tests.sizes``."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

import click

ROOT: Final = Path(__file__).parents[1]
PRODUCT: Final = ("api", "bot", "storage", "playground")


def sources(*packages: str) -> list[Path]:
    return [path for name in packages for path in sorted((ROOT / name).rglob("*.py"))]


def lines(paths: list[Path]) -> int:
    return sum(len(path.read_text().splitlines()) for path in paths)


def modules(paths: list[Path]) -> list[Path]:
    return [path for path in paths if path.name != "__init__.py"]


def folders_of_one_module(paths: list[Path]) -> list[str]:
    """Packages with a single module beside ``__init__.py``, and no package in them."""
    folders = {path.parent for path in paths}
    return [
        str(folder.relative_to(ROOT))
        for folder in sorted(folders)
        if len([path for path in modules(paths) if folder in path.parents]) == 1
    ]


@click.command()
def sizes() -> None:
    """Print the size of each package, of the product and of the tests."""
    product = [*sources(*PRODUCT), ROOT / "serve.py"]
    for name in PRODUCT:
        of_package = sources(name)
        click.echo(f"{name:<12}{lines(of_package):>8,} lines{len(modules(of_package)):>6} modules")
    for folder in sorted({path.parent for path in product} - {ROOT}):
        of_folder = [path for path in product if path.parent == folder]
        click.echo(
            f"  {folder.relative_to(ROOT)!s:<34}{lines(of_folder):>6,}{len(modules(of_folder)):>5}"
        )
    click.echo(f"{'product':<12}{lines(product):>8,} lines{len(modules(product)):>6} modules")
    tests = sources("tests")
    click.echo(f"{'tests':<12}{lines(tests):>8,} lines{len(modules(tests)):>6} modules")
    click.echo(f"folders of one module: {', '.join(folders_of_one_module(product)) or 'none'}")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    click.echo(f"direct dependencies: {len(project['dependencies'])}")


if __name__ == "__main__":
    sizes()
