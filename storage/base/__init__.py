"""The base of every other package: values, errors, field checks, ids, secrets and settings.

Nothing in here knows the database. ``values`` and ``errors`` are what the others import most.
"""
