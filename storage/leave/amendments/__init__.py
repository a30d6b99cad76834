"""Amendments, the proposed changes of approved leave: their rows, their days and their records.

``changes`` requests them and decides on them. Everything that shows a request with its amendment
uses ``counted_amendments``.
"""
