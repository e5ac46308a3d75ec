"""`LLMErrorsInstrumentor`: connects the adapters to classification and telemetry.

Importing this module imports the OpenTelemetry API, but no LLM SDK.
"""

import functools
import logging
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Literal

from opentelemetry import trace
from opentelemetry._logs import get_logger
from opentelemetry.instrumentation.instrumentor import BaseInstrumentor

from llm_errors import providers, safety, semconv
from llm_errors.instrument.patcher import Patcher
from llm_errors.settings import Settings, warn_of_unknown_names
from llm_errors.settings import read as read_settings
from llm_errors.telemetry.logs import FailureLog
from llm_errors.telemetry.metrics import Metrics, metrics_of
from llm_errors.telemetry.recorder import Recorder
from llm_errors.telemetry.spans import Spans
from llm_errors.version import __version__

if TYPE_CHECKING:
    from opentelemetry._logs import LoggerProvider
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider
    from typing_extensions import Self

    from llm_errors.instrument.protocol import Adapter
    from llm_errors.providers import Sdk
    from llm_errors.rules._rule import Index
    from llm_errors.telemetry.recorder import FailureHook

_log = logging.getLogger("llm_errors")


class LLMErrorsInstrumentor(BaseInstrumentor):  # type: ignore[misc]
    """Observes the model calls of every installed SDK.

    `instrument()` takes the settings as keywords (`spans`, `capture_message`, `message_rules`, `rules_file`,
    `disabled_sdks`, `logs`, `token_usage`), and also `tracer_provider`, `meter_provider`, `logger_provider`,
    `failure_hook` and `strict`. The hook is called for every classified failure before the span ends. It receives the span
    (None if there is no span), the `Classification` and the `CallInfo`. With `strict`, which is for
    tests, internal errors are raised.
    """

    patcher: Patcher | None = None

    if TYPE_CHECKING:  # the keywords of `instrument(**kwargs)`, for editors and type checkers

        def __new__(cls) -> Self:
            """Return the only instance."""

        def instrument(
            self,
            *,
            spans: Literal["auto", "adopt", "off"] | None = None,
            capture_message: Literal["redacted", "full", "false"] | bool | None = None,
            message_rules: bool | None = None,
            rules_file: str | None = None,
            disabled_sdks: str | Collection[str] | None = None,
            logs: bool | None = None,
            token_usage: bool | None = None,
            tracer_provider: TracerProvider | None = None,
            meter_provider: MeterProvider | None = None,
            logger_provider: LoggerProvider | None = None,
            failure_hook: FailureHook | None = None,
            strict: bool = False,
            skip_dep_check: bool = False,
            raise_exception_on_conflict: bool = False,
        ) -> None:
            """Start observing. The class docstring describes the keywords."""

        def uninstrument(self) -> None:
            """Stop observing, and restore the classes of the SDKs exactly."""

    def instrumentation_dependencies(self) -> Collection[str]:
        """Return nothing, because no SDK is required.

        An SDK that is not installed is skipped. If its version is untested, the functions that are known are patched.
        """
        return ()

    def _instrument(self, **kwargs: Any) -> None:
        strict = bool(kwargs.get("strict"))
        safety.configure(strict=strict, count=None)
        safety.quietly("instrument", None, self._start, kwargs, strict)

    def _start(self, given: dict[str, Any], strict: bool) -> None:
        warn_of_unknown_names(given)
        settings = read_settings(given, sdks=providers.names(), sdk_of=providers.sdk_of_provider)
        recorder, instruments = build_recorder(settings, given)
        safety.configure(strict=strict, count=instruments.failed_ourselves)
        self.patcher = Patcher(recorder)
        observed = [row for row in providers.OBSERVED if row.name not in settings.disabled_sdks]
        packages = {package for row in observed for package in row.begins_with}
        self.patcher.expect(packages, functools.partial(_adapters, observed))

    def _uninstrument(self, **kwargs: Any) -> None:
        if self.patcher is not None:
            self.patcher.uninstall()
            self.patcher = None


def _adapters(observed: "list[Sdk]", package: str) -> "list[Adapter]":
    """The adapters of the observed SDKs in a package."""
    from llm_errors.instrument.adapters import ALL

    return [adapter for adapter in ALL if package in adapter.row.begins_with and adapter.row in observed]


def build_recorder(settings: Settings, given: dict[str, Any]) -> tuple[Recorder, Metrics]:
    """Build the recorder and its metrics. They use the OpenTelemetry providers in `given`, or else the global ones."""
    scope = (semconv.SCOPE, __version__)
    tracer = trace.get_tracer(*scope, given.get("tracer_provider"), schema_url=semconv.SCHEMA_URL)
    log = None
    if settings.logs:
        log = FailureLog(get_logger(*scope, given.get("logger_provider"), schema_url=semconv.SCHEMA_URL))
    instruments = metrics_of(given.get("meter_provider"))
    instruments.token_usage = settings.token_usage
    recorder = Recorder(
        settings,
        Spans(tracer, settings.spans),
        instruments,
        log,
        hook=given.get("failure_hook"),
        own_rules=_own_rules(settings.rules_file),
    )
    return recorder, instruments


def _own_rules(path: str) -> "Index | None":
    """Read the user's rules. If the file has a problem, the whole file is ignored and the problem is logged."""
    if not path:
        return None
    from llm_errors.rules import user as user_rules

    rows, problems = user_rules.load(path)
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        _log.error("LLM_ERRORS_RULES_FILE is not used: %s%s. Check it with: llm-errors rules check", problems[0], more)
    return rows
