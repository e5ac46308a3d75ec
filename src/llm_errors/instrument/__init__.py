"""Observing calls: which functions are patched, how a call is followed, and one adapter per SDK family."""
