"""Settings, the ids of commands, actions and fields, and the language of a text."""
