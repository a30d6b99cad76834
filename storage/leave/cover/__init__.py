"""The colleague who covers for a person on leave: who can, when they are off, what they are told.

``choice`` checks a cover and finds those to choose from, ``away`` finds the days on which they are
off, ``covered`` reads the leave that a person covers, ``cover_notices`` queues messages to them.
``changes.released_cover`` clears a cover who was archived. A cover sees dates, never the leave type
or the note.
"""
