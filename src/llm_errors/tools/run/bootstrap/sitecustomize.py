"""Instruments the Python processes that the application starts: workers, notebook kernels, scripts.

Older releases of `opentelemetry-instrument` instrument only the first Python process. The directory of this module stays on
`PYTHONPATH`, so every further Python process imports this module when it starts. The module does nothing in a Python
environment without OpenTelemetry.
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
