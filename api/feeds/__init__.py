"""Calendar feeds.

``feed_endpoint`` serves them, ``feed_contents`` reads what a feed shows, and ``ical`` turns that
into iCalendar text.
"""
