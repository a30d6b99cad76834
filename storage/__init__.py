"""The core of Hiatus: values, rules, use cases and the database under them.

No module stands here, only packages. Each imports those after it in this list, never those
before it: cli, slack, admin, access, leave, directory, events, db, rules, base. ``api`` and ``bot``
call the use cases; tables, queries and rows stay inside.
"""

import sys
from collections.abc import Sequence
from importlib import import_module


def import_without(*optional: str, libraries: Sequence[str]) -> None:
    """Import libraries as if optional packages that they use where installed were not.

    The packages themselves can still be imported.
    """
    imported = {name: sys.modules.pop(name) for name in optional if name in sys.modules}
    # Python's way to say that an import must fail.
    sys.modules.update(dict.fromkeys(optional))  # type: ignore[arg-type]
    try:
        for library in libraries:
            import_module(library)
    finally:
        for name in optional:
            del sys.modules[name]
        sys.modules.update(imported)


# Peewee uses psycopg only for the migrations, which bring their own adapter: 10 MB of memory and
# 0.1 s at start that a process on SQLite does without.
import_without("psycopg", libraries=["peewee", "playhouse.migrate"])
# In a development installation, these take 5 MB and 0.05 s. Tracebacks of rich are never shown, and
# nothing runs in greenlets.
import_without("rich", "greenlet", libraries=["structlog"])
