"""Whole phrases of typed text: what people ask for, politeness, and names of public holidays."""
