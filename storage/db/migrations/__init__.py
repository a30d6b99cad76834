"""The steps from an empty database to the schema of this code, in the order of their numbers.

``schema`` runs them from this folder; nothing imports them. A step that has been released
is never edited: the next change of the schema is a new one.
"""
