"""The Starlette application and what runs beside it."""
