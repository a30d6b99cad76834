"""The rules of leave as pure functions: no database, no clock, no settings.

Days and half-days, leave years, the lifecycle of requests, balances and public holidays. Rules take
everything as arguments, so their tests need no database.
"""
