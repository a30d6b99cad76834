"""Keys, tokens and what they open.

``authentication`` finds the caller of an API key and ``feed_owners`` the owner of a feed's token;
``api_keys``, ``feeds`` and ``display_links`` manage these. ``absences`` decides what a viewer sees
of others' leave, and ``wallchart`` shows it as people and days.
"""
