"""The Home tab, a module for each of its parts; ``tab`` puts them together."""
