"""The page test makes one real call that ends in NOT_FOUND."""

import os
import subprocess
import sys

import pytest

from llm_errors.testing import replies
from llm_errors.testing.provider import Reply
from llm_errors.tools.doctor import packages, page_test
from llm_errors.tools.doctor.finding import Grade

pytest.importorskip("openai")

NO_MODEL = Reply(404, json={"error": {"code": "model_not_found", "message": "no such model"}})
BAD_KEY = Reply(401, json={"error": {"code": "invalid_api_key", "message": "no"}})


@pytest.mark.parametrize(("reply", "wanted"), [(NO_MODEL, "NOT_FOUND"), (BAD_KEY, "AUTH")], ids=["no model", "bad key"])
def test_the_call_prints_its_class(provider, reply, wanted):
    env = {**os.environ, "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": provider([reply]).url + "/v1"}
    command = [sys.executable, "-m", "llm_errors.tools.doctor.page_test", "openai"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == wanted


def test_a_server_that_answers_for_any_model_is_not_the_provider_itself(monkeypatch, provider):
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", provider([replies.openai_answer("pong")]).url + "/v1")
    for signal in ("METRICS", "TRACES", "LOGS"):
        monkeypatch.setenv(f"OTEL_{signal}_EXPORTER", "none")
    found = page_test.run("openai")
    assert found.grade is Grade.FAULT
    assert found.what.endswith("succeeded: the server answers for any model name")
    assert "Run the page test against the provider itself" in found.remedy


def test_without_the_launcher_the_remedy_is_named(monkeypatch):
    monkeypatch.setattr(packages, "launcher", lambda: None)
    assert "llm-errors[otlp]" in page_test.run("openai").remedy


def test_where_the_kubernetes_operator_starts_opentelemetry_the_call_needs_no_launcher(monkeypatch, provider):
    injected = "/otel/opentelemetry/instrumentation/auto_instrumentation"
    monkeypatch.setattr(packages, "launcher", lambda: None)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([injected, *sys.path]))
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", provider([NO_MODEL]).url + "/v1")
    assert "ended in NOT_FOUND" in page_test.run("openai").what
