"""Instruments the Python processes that the application starts: workers, notebook kernels, scripts.

Older releases of `opentelemetry-instrument` prepare only the first Python process. This directory stays on
`PYTHONPATH`, so Python imports this module at the start of each further process. If that Python has no OpenTelemetry,
nothing happens.
"""

import sys

_MACHINERY = ("opentelemetry-instrument", "multiprocessing.resource_tracker", "multiprocessing.forkserver")
"""Processes that never call a model: the program that instruments the application, and Python's own helper processes.
"""


def _start() -> None:
    if any(name in word for word in sys.orig_argv[:3] for name in _MACHINERY):
        return
    try:
        from opentelemetry.instrumentation.auto_instrumentation import initialize
    except ImportError:
        return
    initialize()


_start()
