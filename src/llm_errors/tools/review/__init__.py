"""The weekly review of UNKNOWN: what recurs, by fingerprint, with a row ready to give it a name."""
