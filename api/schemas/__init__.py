"""The shapes of requests and responses: bodies, query parameters and records."""
