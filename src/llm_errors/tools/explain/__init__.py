"""`llm-errors explain`: how a saved failure is classified, why, who is notified and what to do. Calls nobody."""
