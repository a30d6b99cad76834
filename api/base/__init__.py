"""Shared by the whole service: settings, logs, metrics, caches, the version, the dispatcher."""
