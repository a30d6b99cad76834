"""The migrations from an empty database to the schema of this code, in the order of their numbers.

The first is the whole schema of 1.0.0. ``schema`` runs them from this folder. Never edit or remove
a released one: add the next number (0101 after 0100) and change ``tables`` with it.

Each has ``up(migrator, db)`` and ``COMPATIBLE_FROM``, the number of the last migration of the
oldest version that still works after it. That is 100 for a new table, a new column that may be NULL
or has a default, and an index: version 1.0.0 works with it; see docs/upgrades.md. Without it no
older version works.

They run ``statements``; ``history`` and ``connections`` are what ``schema`` is made of.
``steps_to_1_0_0`` brings databases of versions before 1.0.0 to its schema.
"""
