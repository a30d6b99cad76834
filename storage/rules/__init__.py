"""The rules of leave as pure functions: no database, no clock, no settings.

Days and their halves, leave years and balances, the lifecycle of requests, roles and public
holidays. Rules take everything as arguments, so their tests need no database.
"""
