"""The migrations from an empty database to the schema of this code, in the order of their numbers.

``schema`` runs them from this folder. Never edit or remove a released one: add the next number and
change ``tables`` with it. ``trial_history`` is for databases older than the first version.
"""
