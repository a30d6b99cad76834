"""Calendars: the absences that a viewer may see, as feeds and as a wallchart.

``absences`` decides what a viewer sees of others' leave, ``wallchart`` shows it as people and
days. ``feeds`` and ``display_links`` manage the secret addresses, and ``feed_owners`` finds the
owner of a feed's token.
"""
