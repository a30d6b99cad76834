"""Calendar feeds: the route that serves them and what it needs.

``feed_requests`` reads the request, ``feed_tokens`` finds its owner, ``feed_views``
collects what the feed shows, ``ical`` turns that into iCalendar text, and ``feed_cache`` keeps the
text.
"""
