"""What the service needs before any request: settings, logs, metrics, the version, dispatchers."""
