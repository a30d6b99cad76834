"""The migrations from an empty database to the schema of this code, in the order of their numbers.

``schema`` runs them from this folder; nothing imports them. Migrations only grow: never edit or
remove one that has been released, but add the next number and change ``tables`` with it.
"""
