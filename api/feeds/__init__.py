"""Calendar feeds: the route that serves them and what it needs.

``feed_requests`` reads the request, ``owner_lookup`` finds whose feed it is, ``feed_views``
collects what the feed shows, ``ical`` turns that into iCalendar text, and ``feed_cache`` keeps the
text.
"""
