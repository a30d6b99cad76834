"""What Hiatus knows and what it allows: values, rules, use cases and the database under them.

Others import the use cases (``leave``, ``people``, …), ``values``, ``records``, ``errors`` and the
handle ``Database``; the modules that touch Peewee (``tables``, ``compiled``, ``rows``) stay inside.
"""
