"""Authentication: API keys, calendar feeds' tokens, idempotency keys and the secrets' canary.

``authentication`` finds the caller of a key and ``feed_owners`` the owner of a feed token;
``absences`` decides what a viewer sees; ``wallcharts`` shows it as people and days. ``feeds`` and
``api_keys`` manage tokens and keys.
"""
