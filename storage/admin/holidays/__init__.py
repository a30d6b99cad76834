"""Public holidays of an organisation: added, changed and removed days, and removed sets."""
