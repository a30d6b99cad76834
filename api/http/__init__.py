"""From an HTTP request to an operation and back: authentication, conditions, errors, limits.

``operations`` declares what a route does and ``handlers`` what its function takes. ``endpoints``
serves it: ``parsing`` reads the request, ``changes`` runs in the transaction,
``served_operations`` makes the response, ``problems`` turns errors into problem+json.
"""
