"""How fast Hiatus is, against a bare Starlette route in the same run: ``python -m tests.bench``."""
