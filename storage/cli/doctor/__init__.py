"""The command ``hiatus doctor``: what a check and its findings are, and the checks of storage.

``api.service.doctor`` and ``bot.service.doctor`` add theirs, and ``serve.py`` composes them. A
check changes nothing, prints no secret, and works without the database wherever it can.
"""
