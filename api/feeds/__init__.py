"""Calendar feeds: iCalendar text, its cache, and the route that serves it."""
