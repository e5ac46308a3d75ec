"""Implements `llm-errors demo`: a provider on a loopback port plays faults to a support desk on a bad Monday morning."""
