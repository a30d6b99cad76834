"""API keys: who calls, what the key opens, and the stored answers of repeated requests.

``authentication`` finds the caller of a key, ``api_keys`` manages keys, and ``stored_secrets``
encrypts every secret again when a secret key is replaced.
"""
