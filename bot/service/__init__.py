"""The Bolt app, how payloads reach it (HTTP or Socket Mode), installation and the manifest."""
