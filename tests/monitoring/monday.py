"""Seed data: a month of a support desk that ends in one bad Monday morning or, `calm`, in a good one, as OpenMetrics, and
the failures' log and trace rows.

The same story as `llm-errors demo`: a quota spike, cut off and blocked answers, an overloaded provider, a deprecated
model, a revoked key, a spent quota and answers with nothing in them, over three providers. Deterministic, and always
the same Monday.
"""

import math
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone

from llm_errors import semconv
from llm_errors.monitoring import promql

NOW = int(datetime(2026, 11, 23, 11, 0, tzinfo=timezone.utc).timestamp())
FINE_FROM = NOW - 26 * 3600
FINE_STEP, COARSE_STEP = 60, 300
BUCKETS = (0.5, 1, 2, 4, 8, 16, 32, 64)

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Caller:
    """One service calling one model: calls a second at noon, and the median duration in seconds."""

    job: str
    provider: str
    model: str
    operation: str
    calls: float
    median: float

    def labels(self, **more: str) -> Labels:
        own = {
            "job": self.job,
            "instance": f"{self.job}:9464",
            "cluster": CLUSTERS[self.job],
            "gen_ai_provider_name": self.provider,
            "gen_ai_request_model": self.model,
            "gen_ai_operation_name": self.operation,
        }
        return tuple({**own, **more}.items())


DESK, TRIAGE = "support-desk", "ticket-triage"
CLUSTERS = {DESK: "eu-1", TRIAGE: "us-2"}
VERSIONS = ((31 * 24, "4.18.2"), (1.35, "4.19.0"))
"""The desk's versions, each from so many hours before the end of the data."""
RULE_GROUPS = dict(zip(promql.GROUPS, (0.28, 0.07, 0.02, 0.01, 0.01, 0.05, 0.01), strict=True))
"""How much of its interval each group of rules takes."""
OPENAI = Caller(DESK, "openai", "gpt-5.2", "chat", 1.1, 2.1)
CLAUDE = Caller(DESK, "anthropic", "claude-sonnet-5", "chat", 0.8, 2.8)
GEMINI = Caller(DESK, "gcp.gemini", "gemini-3-flash", "generate_content", 1.6, 1.2)
LEGACY = Caller(DESK, "openai", "gpt-4-turbo", "chat", 0.0, 0.5)
SORTER = Caller(TRIAGE, "anthropic", "claude-haiku-5", "chat", 0.7, 0.8)
CALLERS = (OPENAI, CLAUDE, GEMINI, LEGACY, SORTER)


@dataclass(frozen=True)
class Trouble:
    """A kind of failure of one caller: share of its calls, from and until hours before noon of the Monday (None:
    always).

    `climbs` lets the share rise linearly over the first hour. `only` replaces the traffic: calls an hour that all
    fail.
    """

    caller: Caller
    what: str
    share: float
    start: float | None = None
    end: float = 0.0
    climbs: bool = False
    only: float = 0.0
    in_band: bool = False

    def at(self, hours: float) -> float:
        """The share at a time in hours before the end of the data."""
        if self.start is None:
            return self.share
        if not self.end <= hours <= self.start:
            return 0.0
        return self.share * min(1.0, (self.start - hours + 0.05) / 1.0) if self.climbs else self.share


def _usual() -> Iterator[Trouble]:
    for caller in (OPENAI, CLAUDE, GEMINI, SORTER):
        yield Trouble(caller, "TIMEOUT/read", 0.0007)
        yield Trouble(caller, "TRANSPORT/stream_cut", 0.0004)
        yield Trouble(caller, "SERVER/internal", 0.0009)
        yield Trouble(caller, "RATE_LIMITED/requests", 0.0006)
        yield Trouble(caller, "TRUNCATED/max_tokens", 0.012, in_band=True)
    yield Trouble(OPENAI, "PROMPT_BLOCKED/jailbreak", 0.006)
    yield Trouble(OPENAI, "OUTPUT_BLOCKED/content_filter", 0.003, in_band=True)
    yield Trouble(CLAUDE, "OUTPUT_BLOCKED/refusal", 0.007, in_band=True)
    yield Trouble(GEMINI, "OUTPUT_BLOCKED/safety", 0.009, in_band=True)
    yield Trouble(GEMINI, "PROMPT_BLOCKED/prohibited_content", 0.004, in_band=True)
    yield Trouble(OPENAI, "TOOL_PROTOCOL/invalid_arguments", 0.003, in_band=True)
    yield Trouble(GEMINI, "TOOL_PROTOCOL/malformed_call", 0.005, in_band=True)
    yield Trouble(CLAUDE, "BAD_REQUEST/context_overflow", 0.0015)


MONDAY = (
    Trouble(GEMINI, "RATE_LIMITED/requests", 0.046, 1.6, climbs=True),
    Trouble(CLAUDE, "SERVER/overloaded", 0.09, 2.75, 2.3),
    Trouble(OPENAI, "TRUNCATED/max_tokens", 0.12, 2.0, climbs=True, in_band=True),
    Trouble(OPENAI, "TOOL_PROTOCOL/schema_mismatch", 0.022, 2.0, climbs=True, in_band=True),
    Trouble(OPENAI, "PROMPT_BLOCKED/jailbreak", 0.06, 1.5, climbs=True),
    Trouble(GEMINI, "OUTPUT_BLOCKED/safety", 0.03, 1.1, in_band=True),
    Trouble(CLAUDE, "OUTPUT_BLOCKED/refusal", 0.02, 3.2, 1.0, in_band=True),
    Trouble(LEGACY, "NOT_FOUND/model", 1.0, 1.2, 0.45, only=22),
    Trouble(SORTER, "AUTH/invalid_key", 0.11, 0.6),
    Trouble(CLAUDE, "AUTH/permission_denied", 0.004, 18.5, 18.0),
    Trouble(OPENAI, "CALL_BUDGET/insufficient_quota", 0.02, 0.35),
    Trouble(SORTER, "CALL_BUDGET/max_turns", 0.004, 8.0, 7.0),
    Trouble(CLAUDE, "BAD_REQUEST/invalid_parameter", 0.012, 14.0, 13.4),
    Trouble(GEMINI, "UNKNOWN/empty_response", 0.008, 3.0, in_band=True),
    Trouble(OPENAI, "UNKNOWN/unrecognised_error", 0.002, 5.0),
    Trouble(SORTER, "UNKNOWN/unexpected_body", 0.002, 20.0),
)
TROUBLES = (*_usual(), *MONDAY)
RETRIED = {"RATE_LIMITED": 2.2, "SERVER": 1.4, "TIMEOUT": 0.6, "TRANSPORT": 0.8}


def _times(days: int) -> Iterator[tuple[int, int]]:
    for step, start, end in ((COARSE_STEP, NOW - days * 86400, FINE_FROM), (FINE_STEP, FINE_FROM, NOW + 1)):
        for moment in range(start, end, step):
            yield moment, step


class _Morning:
    """Plays the callers over time and keeps what was counted."""

    def __init__(self, troubles: tuple[Trouble, ...]) -> None:
        self.troubles = troubles
        self.random, self.noise = random.Random(23), random.Random(24)
        self.counters: dict[tuple[str, Labels], float] = defaultdict(float)
        self.lines: dict[tuple[str, Labels], list[str]] = defaultdict(list)

    def play(self, days: int) -> None:
        for moment, step in _times(days):
            for caller in CALLERS:
                self._calls(caller, moment, step)
            if moment >= FINE_FROM:
                self._around(moment)
            for key, value in self.counters.items():
                self.lines[key].append(f"{value:g} {moment}")

    def _calls(self, caller: Caller, moment: int, step: int) -> None:
        day = 0.55 + 0.45 * math.sin((moment % 86400 / 3600 - 7) / 24 * 2 * math.pi)
        calls = self._about(caller.calls * step * day)
        hours = (NOW - moment) / 3600
        failed = 0
        for trouble in (t for t in self.troubles if t.caller is caller):
            base = trouble.only * step / 3600 if trouble.only else calls
            failures = self._about(base * trouble.at(hours))
            failed += failures
            self._failures(trouble, failures)
            calls += failures if trouble.only else 0
        hangs = 0.05 if caller is CLAUDE and 2.2 < hours < 2.8 and MONDAY[0] in self.troubles else 0.008
        cancelled = self._about(calls * hangs)
        for outcome, count in (("ok", max(0, calls - failed - cancelled)), ("error", failed), ("cancelled", cancelled)):
            if count:
                self.counters[semconv.CALLS, caller.labels(llm_call_outcome=outcome)] += count
        if moment >= FINE_FROM:
            self._durations(caller, calls, 3.0 if hangs > 0.01 else 1.0)

    def _failures(self, trouble: Trouble, count: int) -> None:
        if not count:
            return
        error_class, reason = trouble.what.split("/")
        channel = semconv.IN_BAND if trouble.in_band else semconv.THROWN
        more = {"llm_error_class": error_class, "llm_error_reason": reason, "llm_error_channel": channel}
        self.counters[semconv.ERRORS, trouble.caller.labels(**more)] += count
        retried = self._about(count * RETRIED.get(error_class, 0))
        if retried:
            self.counters[semconv.RETRIES, trouble.caller.labels(llm_error_class=error_class)] += retried

    def _durations(self, caller: Caller, calls: int, slower: float) -> None:
        for name, part in (("operation_duration", 1.0), ("operation_time_to_first_chunk", 0.2)):
            median = caller.median * slower * part
            took = [self.random.lognormvariate(math.log(median), 0.55) for _ in range(calls)]
            for limit in (*BUCKETS, math.inf):
                text = "+Inf" if limit == math.inf else f"{limit:g}"
                key = f"gen_ai_client_{name}_seconds_bucket", caller.labels(le=text)
                self.counters[key] += sum(1 for t in took if t <= limit)

    def _around(self, moment: int) -> None:
        """What is known beside the calls: versions, and the health of Collectors and Prometheus."""
        hours = (NOW - moment) / 3600
        version = [name for since, name in VERSIONS if hours <= since][-1]
        place = (("job", DESK), ("instance", f"{DESK}:9464"), ("cluster", CLUSTERS[DESK]), ("service_version", version))
        self._now("target_info", place, 1, moment)
        collector = (("job", "collectors"), ("instance", "agent:8888"))
        exporter = (*collector, ("exporter", "otlp_http/metrics"))
        bad = 2.3 < hours < 2.7 and MONDAY[0] in self.troubles
        self._now("otelcol_exporter_queue_size", exporter, 620 if bad else 40, moment)
        self._now("otelcol_exporter_queue_capacity", exporter, 1000, moment)
        lost = self.counters["otelcol_exporter_send_failed_metric_points_total", exporter]
        self.counters["otelcol_exporter_send_failed_metric_points_total", exporter] = lost + 40 * bad
        self.counters["otelcol_receiver_refused_metric_points_total", (*collector, ("receiver", "otlp"))] += 0
        self.counters["otelcol_exporter_enqueue_failed_metric_points_total", exporter] += 0
        for group, busy in RULE_GROUPS.items():
            labels = (
                ("job", "prometheus"),
                ("instance", "prometheus:9090"),
                ("rule_group", f"llm.rules.yml;llm-{group}"),
            )
            self._now("prometheus_rule_group_interval_seconds", labels, 15, moment)
            took = 15 * busy * (1 + 0.2 * self.noise.random())
            self._now("prometheus_rule_group_last_duration_seconds", labels, took, moment)

    def _now(self, name: str, labels: Labels, value: float, moment: int) -> None:
        self.lines[name, labels].append(f"{value:g} {moment}")

    def _about(self, mean: float) -> int:
        if mean <= 0:
            return 0
        return max(0, round(self.random.gauss(mean, math.sqrt(mean)))) if mean > 12 else _poisson(self.random, mean)


def _poisson(source: random.Random, mean: float) -> int:
    limit, count, product = math.exp(-mean), 0, source.random()
    while product > limit:
        count += 1
        product *= source.random()
    return count


def open_metrics(days: int, *, calm: bool = False) -> str:
    """The counters, histograms and gauges of the last `days` before the Monday's 11 o'clock."""
    morning = _Morning(tuple(_usual()) if calm else TROUBLES)
    morning.play(days)
    text, family = [], ""
    for (name, labels), samples in sorted(morning.lines.items()):
        if name != family:
            family = name
            kind = "counter" if name.endswith("_total") else "unknown"
            text.append(f"# TYPE {name.removesuffix('_total')} {kind}")
        series = ",".join(f'{key}="{value}"' for key, value in labels)
        text += [f"{name}{{{series}}} {sample}" for sample in samples]
    return "\n".join([*text, "# EOF", ""])


LOG_ROWS = {
    "Fingerprints to promote": [
        _row
        for _row in (
            {
                "llm_error_fingerprint": "7c1e09ab",
                "gen_ai_provider_name": "gcp.gemini",
                "exception_type": "",
                "Value #A": 61,
            },
            {
                "llm_error_fingerprint": "e40d5f12",
                "gen_ai_provider_name": "openai",
                "exception_type": "openai.APIStatusError",
                "Value #A": 33,
            },
            {
                "llm_error_fingerprint": "19b3c6d0",
                "gen_ai_provider_name": "anthropic",
                "exception_type": "anthropic.APIResponseValidationError",
                "Value #A": 27,
            },
        )
    ],
    "Retry-After seen": [
        {
            "gen_ai_provider_name": "gcp.gemini",
            "gen_ai_request_model": "gemini-3-flash",
            "llm_error_class": "RATE_LIMITED",
            "Value #A": 47,
        },
        {
            "gen_ai_provider_name": "anthropic",
            "gen_ai_request_model": "claude-sonnet-5",
            "llm_error_class": "SERVER",
            "Value #A": 20,
        },
        {
            "gen_ai_provider_name": "openai",
            "gen_ai_request_model": "gpt-5.2",
            "llm_error_class": "RATE_LIMITED",
            "Value #A": 2,
        },
    ],
    "Latest failed calls": [
        {
            "Trace ID": trace,
            "Start time": f"10:{minute}",
            "Service": DESK,
            "Name": model,
            "llm.error.class": error_class,
            "llm.error.reason": reason,
            "Duration": took,
        }
        for trace, minute, model, error_class, reason, took in (
            ("7f3a91c0", "59:41", "gemini-3-flash", "RATE_LIMITED", "requests", "182 ms"),
            ("19be04a7", "59:12", "gemini-3-flash", "RATE_LIMITED", "requests", "175 ms"),
            ("c40d88e1", "57:50", "gpt-5.2", "SERVER", "internal", "2.31 s"),
            ("aa17e390", "56:08", "claude-sonnet-5", "TIMEOUT", "read", "30.0 s"),
            ("51f0c2b9", "55:33", "gemini-3-flash", "RATE_LIMITED", "requests", "191 ms"),
        )
    ],
}
"""What the two log queries and the trace query would answer, by panel: no Loki and no Tempo run here."""
