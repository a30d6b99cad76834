"""Digests: messages in channels about who is out.

``digest_attempts`` claims due digests and records the results, ``digests`` reads what a digest
shows, ``digest_absences`` reads who is out, and ``digest_schedule`` says when one is posted.
"""
