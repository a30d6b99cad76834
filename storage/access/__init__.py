"""Who may call: API keys, calendar feeds' tokens, idempotency keys and the secrets' canary.

``authentication`` turns a key or a token into a caller; ``feeds`` and ``absences`` say
what a feed shows.
"""
