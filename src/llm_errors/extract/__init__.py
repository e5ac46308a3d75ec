"""From a failure to evidence: pure readers, by wire dialect. Standard library only.

Whatever they are given, they return evidence or nothing; they import no SDK and keep no reference to what they read.
"""
