"""Days that a person could take off: the next free one, and those that bridge to a holiday."""
