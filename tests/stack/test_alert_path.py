"""From a failed call to a pager: SDK, Collector, Prometheus, rules, Alertmanager, webhook, at the shipped intervals."""

import time
from pathlib import Path

from application import SERVICE, Application
from processes import Start, eventually
from services import Alertmanager, Collector, Prometheus, outputs
from sink import CallRecorder
from webhook import Webhook

EXPORT = {"OTEL_METRIC_EXPORT_INTERVAL": "15000"}
SECONDS_AT_MOST = 62
"""15 s of export, 15 s of evaluation, 30 s that the first notification waits for other models to fail, and a little for
the processes between."""


def test_the_first_auth_error_of_a_fresh_process_reaches_the_owning_team(
    start: Start, tmp_path: Path, sink: CallRecorder
):
    webhook = start(Webhook())
    alertmanager = start(Alertmanager(tmp_path, webhook.url))
    prometheus = start(Prometheus(tmp_path, alertmanager=alertmanager.port, interval="15s"))
    agent = start(Collector(tmp_path, "agent.yaml", **outputs(prometheus, sink)))
    application = start(Application(agent.otlp, tmp_path, **EXPORT))

    application.call(failure="OUTPUT_BLOCKED")
    application.call("gpt-5-mini", failure="AUTH")
    called = time.monotonic()
    page = eventually(lambda: webhook.received, "a notification", seconds=90)[0]
    assert page.at - called < SECONDS_AT_MOST
    assert page.receiver == "page-owning-team"
    expected = {
        "alertname": "LLMCredentialOrModelError",
        "job": SERVICE,
        "gen_ai_provider_name": "openai",
        "gen_ai_request_model": "gpt-5-mini",
        "llm_error_class": "AUTH",
    }
    assert expected.items() <= page.labels.items()
    assert page.annotations["runbook_url"]
    assert {notification.receiver for notification in webhook.received} == {"page-owning-team"}
