"""Instruments the Python processes that the application starts: workers, notebook kernels, scripts.

`opentelemetry-instrument` prepares the first Python process only, in its older releases. This directory stays on the
`PYTHONPATH`, so Python imports this module at the start of each further one. Where OpenTelemetry is not installed for that
Python, nothing happens.
"""

import sys

_MACHINERY = ("opentelemetry-instrument", "multiprocessing.resource_tracker", "multiprocessing.forkserver")
"""Processes that never call a model: the program that instruments the application, and helpers of Python's own."""


def _start() -> None:
    if any(name in word for word in sys.orig_argv[:3] for name in _MACHINERY):
        return
    try:
        from opentelemetry.instrumentation.auto_instrumentation import initialize
    except ImportError:
        return
    initialize()


_start()
