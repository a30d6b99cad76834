"""The commands ``hiatus backup`` and ``hiatus restore``.

``archive`` is the file format; ``sqlite_backup`` and ``postgresql_backup`` save and restore.
"""
