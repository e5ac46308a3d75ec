"""Beside other instrumentations: one span, the class on it, right counts, and nothing left behind."""
