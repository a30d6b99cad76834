"""What the app sends by itself: notifications, Home, digests; the daily comparison of people."""
