"""The rules of leave as pure functions: no database, no clock, no settings.

Days and half-days, leave years, the transitions of a request, what a balance holds, which days
are holidays. What a rule needs comes in as an argument, and its tests need no database.
"""
