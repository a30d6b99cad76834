"""The Starlette application, the server, the scheduler and the shutdown."""
