"""The core of Hiatus: values, rules, use cases and the database under them.

It contains packages only. Each imports those after it in this list, never those before it: cli,
slack, admin, access, leave, directory, events, db, rules, base. ``api`` and ``bot`` call the use
cases; tables, queries and rows stay inside.
"""

import sys
from collections.abc import Sequence
from importlib import import_module


def import_without(*optional: str, libraries: Sequence[str]) -> None:
    """Import libraries as if their optional packages were not installed.

    The optional packages themselves can still be imported afterwards.
    """
    imported = {name: sys.modules.pop(name) for name in optional if name in sys.modules}
    # None in ``sys.modules`` makes an import fail.
    sys.modules.update(dict.fromkeys(optional))  # type: ignore[arg-type]
    try:
        for library in libraries:
            import_module(library)
    finally:
        for name in optional:
            del sys.modules[name]
        sys.modules.update(imported)


# Without psycopg, a process on SQLite saves 10 MB of memory and 0.1 s at start. Peewee uses it only
# for the migrations, which bring their own adapter.
import_without("psycopg", libraries=["peewee"])
# Both are installed for development only, and take 5 MB and 0.05 s. Tracebacks of rich are never
# shown, and nothing runs in greenlets.
import_without("rich", "greenlet", libraries=["structlog"])
