"""A scripted provider on a loopback port, to test how an application handles failures.

`Provider` plays `Reply` objects; `llm_errors.testing.replies` writes them as providers do. Standard library only.
"""

from llm_errors.testing.provider import Provider, Reply, Request, Script

__all__ = ["Provider", "Reply", "Request", "Script"]
