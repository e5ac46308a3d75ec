"""llm-errors: classifies every failed LLM call.

Importing this package is cheap: the modules that read and classify a failure are imported when the first failure arrives, and
OpenTelemetry only if `LLMErrorsInstrumentor` is used. `classify` has no side effects.
"""

import importlib
from typing import TYPE_CHECKING, Any

from llm_errors.call import CallInfo
from llm_errors.classify import classify
from llm_errors.taxonomy import HANDLING, ErrorClass, HandlingRule
from llm_errors.version import __version__

if TYPE_CHECKING:
    from llm_errors import recovery
    from llm_errors.evidence import Classification
    from llm_errors.instrumentor import LLMErrorsInstrumentor

__all__ = [
    "HANDLING",
    "CallInfo",
    "Classification",
    "ErrorClass",
    "HandlingRule",
    "LLMErrorsInstrumentor",
    "__version__",
    "classify",
    "recovery",
]


_LATER = {"Classification": "llm_errors.evidence", "LLMErrorsInstrumentor": "llm_errors.instrumentor"}
"""Public name -> the module that defines it. A module is imported when the name is first used, because it imports `dataclasses`
or OpenTelemetry.
"""


def __getattr__(name: str) -> Any:
    if name == "recovery":
        return importlib.import_module("llm_errors.recovery")
    if name in _LATER:
        return getattr(importlib.import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
