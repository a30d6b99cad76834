"""``make fuzz``: schemathesis in full, on each engine, with an owner's key and with a member's."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, get_args

from tests import postgres
from tests.fuzz.running import Whose, fuzz, key_of, served

Engine = Literal["sqlite", "postgresql"]


def main() -> int:
    options = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    options.add_argument("--examples", type=int, default=200, help="for each operation")
    options.add_argument("--engine", choices=[*get_args(Engine), "both"], default="sqlite")
    options.add_argument("--key", choices=[*get_args(Whose), "both"], default="both")
    arguments, more = options.parse_known_args()
    engines = get_args(Engine) if arguments.engine == "both" else (arguments.engine,)
    keys = get_args(Whose) if arguments.key == "both" else (arguments.key,)
    return max(
        _run(engine, whose, arguments.examples, more) for engine in engines for whose in keys
    )


def _run(engine: Engine, whose: Whose, examples: int, more: list[str]) -> int:
    write = sys.stdout.write
    with (
        tempfile.TemporaryDirectory(prefix="hiatus-fuzz-") as folder,
        _database(engine, Path(folder)) as database_url,
        served(database_url) as (url, organisation),
    ):
        write(f"{engine}, {whose}'s key, {examples} examples an operation\n")
        sys.stdout.flush()
        done = fuzz(url, key_of(organisation, whose), examples, *more, folder=Path(folder))
        write(done.output)
    if not done.key_still_works:
        write("The run revoked its own key: later requests tested little.\n")
    return done.code or not done.key_still_works


@contextmanager
def _database(engine: Engine, folder: Path) -> Iterator[str]:
    if engine == "sqlite":
        yield f"sqlite:///{folder}/hiatus.db"
        return
    server_folder = postgres.new_folder()
    try:
        server = postgres.start(server_folder, owner_pid=os.getpid())
        yield postgres.make_database(server.url, "fuzz")
    finally:
        postgres.stop(server_folder)


if __name__ == "__main__":
    sys.exit(main())
