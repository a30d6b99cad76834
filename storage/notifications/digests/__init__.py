"""Digests: messages in channels about who is out.

``digest_attempts`` claims those that are due and records what became of them, ``digests`` reads
what one shows, ``digest_absences`` who is out, and ``digest_schedule`` says when one is posted.
"""
