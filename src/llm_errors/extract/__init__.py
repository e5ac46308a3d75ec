"""Pure readers that turn a failure into Evidence, by wire dialect. Standard library only.

They accept any object, import no SDK, and keep no reference to what they read.
"""
