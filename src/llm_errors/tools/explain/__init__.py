"""`llm-errors explain`: how a saved failure is classified and why, who is notified, and what to do.

It sends nothing.
"""
