"""The weekly review of UNKNOWN: recurring failures by fingerprint, each with a rule to complete."""
