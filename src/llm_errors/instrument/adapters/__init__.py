"""The shipped adapters, one family per module."""

from llm_errors.instrument.adapters import adk, google_genai, google_interactions, stainless_sdks
from llm_errors.instrument.protocol import Adapter

ALL: tuple[Adapter, ...] = (
    *stainless_sdks.ADAPTERS,
    *google_genai.ADAPTERS,
    *google_interactions.ADAPTERS,
    *adk.ADAPTERS,
)
