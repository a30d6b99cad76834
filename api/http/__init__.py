"""From an HTTP request to an operation and back: authentication, conditions, errors, limits.

``operations`` declares what a route does, ``endpoints`` runs it, ``errors`` turns errors into
problem+json.
"""
