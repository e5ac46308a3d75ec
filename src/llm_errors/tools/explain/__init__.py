"""Implements `llm-errors explain`, which shows how a saved failure is classified and why, who is notified and what to do.

The command makes no network connection.
"""
