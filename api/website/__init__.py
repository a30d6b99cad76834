"""Pages for browsers, and the files that they load.

``pages`` serves pages and their files, ``welcome`` is ``/`` and ``/privacy``. The reference of the
API is made in ``documentation``, the playground outside of ``api``; both use ``pages``.
"""
