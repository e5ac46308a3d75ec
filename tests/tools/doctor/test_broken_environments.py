"""Every environment that would lose failures is named, with a remedy; a sound one passes."""

import json
import re
import socket
import sys
from importlib.metadata import version
from importlib.util import find_spec

import pytest

from llm_errors.testing.provider import Reply
from llm_errors.tools import cli
from llm_errors.tools.doctor import packages, sdks

pytest.importorskip("openai")
pytest.importorskip("opentelemetry.exporter.otlp.proto.http")
pytest.importorskip("opentelemetry.exporter.otlp.proto.grpc")


@pytest.fixture(autouse=True)
def _one_sdk(monkeypatch):
    """One SDK is enough here, and importing all of them takes a while."""
    monkeypatch.setattr(sdks, "ALL", [a for a in sdks.ALL if a.row.distribution == "openai"])


@pytest.fixture
def diagnosed(capsys):
    def call(*argv):
        code = cli.main(["doctor", "--json", *argv])
        report = json.loads(capsys.readouterr().out)
        assert report["ok"] == (code == 0)
        return report["findings"]

    return call


@pytest.fixture
def faults(diagnosed):
    def call(*argv):
        found = [f for f in diagnosed(*argv) if f["grade"] == "fault"]
        assert all(f["remedy"] for f in found)
        return [f"{f['what']} -> {f['remedy']}" for f in found]

    return call


def test_a_sound_environment_passes(sound, diagnosed, capsys):
    sound()
    assert {f["grade"] for f in diagnosed()} <= {"good", "note"}
    assert cli.main(["doctor"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("All checks passed.")


def test_a_sound_environment_over_grpc_passes(sound, faults, grpc_receiver):
    sound(OTEL_EXPORTER_OTLP_PROTOCOL=None, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://{grpc_receiver}")
    assert faults() == []


def test_a_fault_is_never_followed_by_all_checks_passed(sound, capsys):
    sound(OTEL_SERVICE_NAME=None)
    assert cli.main(["doctor"]) == 1
    assert "Some failures will not be reported; fix the FAULT lines above." in capsys.readouterr().out


prometheus = pytest.mark.skipif(
    find_spec("opentelemetry.exporter.prometheus") is None, reason="opentelemetry-exporter-prometheus is not installed"
)
says_why = pytest.mark.skipif(
    version("opentelemetry-exporter-otlp-proto-grpc") < "1.45", reason="only newer gRPC exporters say why they failed"
)
TEMPORALITY = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
NO_PORT = "http://127.0.0.1:9"


@pytest.mark.parametrize(
    ("changed", "wanted"),
    [
        ({"OTEL_SERVICE_NAME": None}, "service.name is not set: alerts cannot tell which service failed"),
        ({"OTEL_SDK_DISABLED": "true"}, "OTEL_SDK_DISABLED=true"),
        ({"OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": "requests, llm_errors"}, "switches llm_errors off"),
        ({"OTEL_METRICS_EXPORTER": "none"}, "metrics are not exported"),
        ({"OTEL_METRICS_EXPORTER": ""}, "metrics are not exported"),
        ({"OTEL_METRICS_EXPORTER": "promethus"}, "exporter 'promethus' is not installed.*Name an installed exporter"),
        ({"OTEL_PYTHON_CONFIGURATOR": "mine"}, "OTEL_PYTHON_CONFIGURATOR=mine: not installed"),
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}, "protocol 'http/json' is not supported"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": NO_PORT},
            "metrics, traces, logs: OTLP/HTTP to http://127.0.0.1:9/v1/<signal>: connection refused: nothing listens on port 9 of 127.0.0.1 -> Start the Collector",
        ),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "127.0.0.1:9"}, "Write the endpoint with its scheme"),
        ({"OTEL_EXPORTER_OTLP_HEADERS": "Authorization Bearer x"}, "HEADERS as name=value"),
        ({TEMPORALITY: "delta"}, "counters would not add up"),
        ({"OTEL_METRIC_EXPORT_INTERVAL": "15s"}, "not a number of milliseconds: OTEL_METRIC_EXPORT_INTERVAL=15s"),
        ({"LLM_ERRORS_SPANS": "sometimes"}, "LLM_ERRORS_SPANS"),
        (
            {"LLM_ERRORS_DISABLED_SDKS": "opnai"},
            r"unknown SDK 'opnai' in LLM_ERRORS_DISABLED_SDKS, ignored; did you mean openai\?",
        ),
        (
            {"LLM_ERRORS_DISABLED_SDKS": "xyzzy"},
            "unknown SDK 'xyzzy' in LLM_ERRORS_DISABLED_SDKS, ignored; known: openai, ",
        ),
        (
            {"LLM_ERRORS_DISABLED_SDKS": "gemini"},
            r"unknown SDK 'gemini' in LLM_ERRORS_DISABLED_SDKS, ignored; did you mean google-genai\?",
        ),
        ({"LLM_ERRORS_LOGS": "ja"}, "invalid value 'ja' for LLM_ERRORS_LOGS; .* Using the default: true"),
        ({"LLM_ERRORS_SPAN": "off"}, "unknown setting LLM_ERRORS_SPAN"),
        ({"LLM_ERRORS_RULES_FILE": "/nowhere/rules.toml"}, "LLM_ERRORS_RULES_FILE is not used: .*cannot be read"),
        pytest.param(
            {"OTEL_METRICS_EXPORTER": "prometheus", "OTEL_EXPORTER_PROMETHEUS_PORT": "metrics"},
            "OTEL_EXPORTER_PROMETHEUS_PORT=metrics is not a port",
            marks=prometheus,
        ),
    ],
    ids=lambda value: " ".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else "",
)
def test_a_variable_that_loses_failures(sound, faults, changed, wanted):
    sound(**changed)
    assert any(re.search(wanted, line) for line in faults())


@pytest.mark.parametrize(
    ("distributions", "wanted"),
    [
        (["opentelemetry-sdk"], "opentelemetry-sdk is not installed: nothing is exported"),
        (
            ["opentelemetry-distro"],
            "opentelemetry-distro is not installed: nothing is exported unless the application's own",
        ),
        (["llm-errors"], "llm-errors is not registered here"),
        (
            [
                "opentelemetry-exporter-otlp-proto-http",
                "opentelemetry-exporter-otlp-proto-grpc",
                "opentelemetry-exporter-otlp",
            ],
            r"^metrics, traces, logs: the exporter 'otlp_proto_http' is not installed.*pip install 'llm-errors\[otlp\]'",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_package_that_is_not_installed(sound, faults, hide, distributions, wanted):
    sound()
    hide(*distributions)
    assert any(re.search(wanted, line) for line in faults())


def test_a_protocol_that_is_not_supported_is_one_fault_for_all_signals(sound, faults):
    sound(OTEL_EXPORTER_OTLP_PROTOCOL="http")
    (line,) = faults()
    assert line.startswith("metrics, traces, logs: OTLP protocol 'http' is not supported")


def test_the_launcher_is_not_recommended_without_the_distro_that_it_needs(sound, diagnosed, hide):
    sound()
    hide("opentelemetry-distro")
    assert not any("Start the application with it" in f["remedy"] for f in diagnosed())


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPONT", "OTEL_EXPORTER_OTLP_ENDPOINT"),
        ("OTEL_SERVICE_NAM", "OTEL_SERVICE_NAME"),
        ("OTEL_METRICS_EXPORT_INTERVAL", "OTEL_METRIC_EXPORT_INTERVAL"),
    ],
)
def test_a_misspelt_variable_of_opentelemetry_is_named_with_the_right_one(sound, diagnosed, misspelt, meant):
    sound(**{misspelt: "x"})
    (found,) = [f for f in diagnosed() if misspelt in f["what"]]
    assert found["grade"] == "unchecked"
    assert f"Did you mean {meant}?" in found["remedy"]


def test_a_variable_of_another_instrumentation_is_not_taken_for_a_mistake(sound, diagnosed):
    sound(OTEL_PYTHON_FASTAPI_EXCLUDED_URLS="health", OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="false")
    assert not any("OTEL_PYTHON_FASTAPI" in f["what"] or "OTEL_INSTRUMENTATION" in f["what"] for f in diagnosed())


@pytest.mark.parametrize(
    ("exporters", "stored_nowhere"), [("otlp,console", False), ("console", True)], ids=["with otlp", "alone"]
)
def test_the_console_stores_nothing_only_if_it_is_the_only_exporter(sound, diagnosed, exporters, stored_nowhere):
    sound(OTEL_TRACES_EXPORTER=exporters)
    (found,) = [f for f in diagnosed() if "standard output" in f["what"]]
    assert ("stored nowhere" in found["what"]) == stored_nowhere


def test_a_fault_gives_the_cause_without_the_sentence_of_the_exporter_s_log(sound, faults, grpc_receiver):
    sound(OTEL_EXPORTER_OTLP_ENDPOINT=f"http://{grpc_receiver}")
    (line,) = faults()
    assert not re.search("transient|while exporting|retrying", line, re.IGNORECASE)


def test_the_exporter_of_the_other_protocol_alone_is_accepted(sound, faults, hide):
    sound()
    hide("opentelemetry-exporter-otlp-proto-grpc", "opentelemetry-exporter-otlp")
    assert faults() == []


def test_a_protocol_whose_exporter_is_missing_names_the_one_that_is_there(sound, faults, hide):
    sound(OTEL_EXPORTER_OTLP_PROTOCOL=None)
    hide("opentelemetry-exporter-otlp-proto-grpc")
    assert any("or set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, whose exporter is installed" in f for f in faults())


@pytest.mark.parametrize(
    ("distribution", "version", "wanted"),
    [
        ("opentelemetry-sdk", "1.20.0", "opentelemetry-sdk 1.20.0 is too old -> Upgrade to 1.39 or newer"),
        ("openai", "0.28.1", "unsupported openai 0.28.1 -> Upgrade to openai"),
    ],
)
def test_a_version_that_is_too_old(sound, faults, versioned, distribution, version, wanted):
    sound()
    versioned(distribution, version)
    assert any(line.startswith(wanted) for line in faults())


@says_why
def test_grpc_against_an_http_port(sound, faults):
    sound(OTEL_EXPORTER_OTLP_PROTOCOL="grpc")
    (line,) = faults()
    assert line.startswith("metrics, traces, logs: OTLP/gRPC to")
    assert (
        "This may be a port for OTLP over HTTP: set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, or use the gRPC port"
        in line
    )


def test_http_against_a_grpc_port(sound, faults, grpc_receiver):
    sound(OTEL_EXPORTER_OTLP_ENDPOINT=f"http://{grpc_receiver}")
    (line,) = faults()
    assert line.startswith("metrics, traces, logs: OTLP/HTTP to")
    assert "set OTEL_EXPORTER_OTLP_PROTOCOL=grpc, or use the HTTP port" in line


def test_grpc_to_a_port_where_nobody_listens(sound, faults):
    sound(OTEL_EXPORTER_OTLP_PROTOCOL="grpc", OTEL_EXPORTER_OTLP_ENDPOINT=NO_PORT)
    (line,) = faults()
    assert line.startswith("metrics, traces, logs: OTLP/gRPC to 127.0.0.1:9: ")
    assert "connection refused" in line.lower()


@pytest.mark.parametrize("protocol", ["http/protobuf", "grpc"])
def test_a_host_that_has_no_address(sound, faults, protocol):
    sound(OTEL_EXPORTER_OTLP_PROTOCOL=protocol, OTEL_EXPORTER_OTLP_ENDPOINT="http://collector.invalid:4318")
    (line,) = faults()
    assert "The host's name cannot be resolved" in line


@says_why
def test_grpc_without_a_scheme_means_tls(sound, faults, grpc_receiver):
    sound(OTEL_EXPORTER_OTLP_PROTOCOL="grpc", OTEL_EXPORTER_OTLP_ENDPOINT=grpc_receiver)
    assert any("use http:// for a receiver without TLS" in line for line in faults())


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        (Reply(401, text=""), "OTEL_EXPORTER_OTLP_HEADERS"),
        (Reply(404, text=""), "OTEL_EXPORTER_OTLP_<SIGNAL>_ENDPOINT"),
    ],
    ids=["no credentials", "wrong path"],
)
def test_a_receiver_that_refuses(sound, faults, provider, reply, wanted):
    sound(OTEL_EXPORTER_OTLP_ENDPOINT=provider([reply] * 9).url)
    (line,) = faults()
    assert line.startswith("metrics, traces, logs: OTLP/HTTP to")
    assert wanted in line


def test_headers_are_sent_as_configured(sound, faults, provider):
    seen = []

    def answer(request):
        seen.append(request.headers.get("authorization"))
        return Reply(200, text="")

    sound(OTEL_EXPORTER_OTLP_ENDPOINT=provider(answer).url, OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20x")
    assert (faults(), seen) == ([], ["Bearer x"] * 3)


def test_a_rules_file_with_a_mistake(sound, faults, tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text('[[rule]]\nstatuz = 418\nclass = "SERVER"\n')
    sound(LLM_ERRORS_RULES_FILE=str(path))
    assert any(f"{path}:2: unknown condition 'statuz'" in line for line in faults())


# --- the launcher --------------------------------------------------------------------------------------------------


def test_the_launcher_is_found_without_an_activated_environment(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert packages.launcher() is not None


def test_a_launcher_of_another_environment_is_a_fault(sound, faults, monkeypatch, tmp_path):
    other = tmp_path / packages.LAUNCHER
    other.write_text("#!/bin/sh\n")
    other.chmod(0o755)
    sound()
    monkeypatch.setattr(packages, "launcher", lambda: str(other))
    assert any(f"belongs to another environment than {sys.executable}" in line for line in faults())


def test_without_a_launcher_nothing_can_be_started(sound, faults, monkeypatch):
    sound()
    monkeypatch.setattr(packages, "launcher", lambda: None)
    assert any(line.startswith("opentelemetry-instrument is not installed") for line in faults())


def test_a_process_that_the_kubernetes_operator_has_injected_needs_no_launcher(sound, diagnosed, monkeypatch):
    monkeypatch.setattr(packages, "launcher", lambda: None)
    folder = "/otel-auto-instrumentation-python"
    sound(PYTHONPATH=f"{folder}/opentelemetry/instrumentation/auto_instrumentation:/app:{folder}")
    assert [f["grade"] for f in diagnosed() if f"PYTHONPATH has {folder}" in f["what"]] == ["good"]


def test_a_set_up_in_code_is_told_that_nothing_is_exported_without_providers(sound, diagnosed, hide, capsys):
    sound()
    hide("opentelemetry-distro")
    said = [f["what"] for f in diagnosed("--in-code") if f["grade"] == "unchecked"]
    assert "nothing is exported unless the application's own code sets up providers" in said[0]
    assert cli.main(["doctor", "--in-code"]) == 0
    assert "All checks passed" not in capsys.readouterr().out


# --- what is no fault ----------------------------------------------------------------------------------------------


def grades(findings, word):
    return [f["grade"] for f in findings if word in f["what"]]


@prometheus
def test_prometheus_and_console_are_known(sound, diagnosed):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        sound(
            OTEL_METRICS_EXPORTER="prometheus",
            OTEL_EXPORTER_PROMETHEUS_HOST="127.0.0.1",
            OTEL_EXPORTER_PROMETHEUS_PORT=port,
            OTEL_TRACES_EXPORTER="console",
        )
        found = diagnosed()
    assert grades(found, f"http://127.0.0.1:{port}/metrics, where this process cannot listen") == ["unchecked"]
    assert grades(found, "traces are printed to standard output") == ["note"]
    found = diagnosed()
    assert grades(found, f"metrics are served at http://127.0.0.1:{port}/metrics") == ["good"]


def test_short_lived_processes_want_delta(sound, faults):
    sound(**{TEMPORALITY: "delta"})
    assert faults("--short-lived") == []
    sound(**{TEMPORALITY: None})
    assert any("short-lived processes would overwrite each other" in line for line in faults("--short-lived"))


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"OTEL_METRIC_EXPORT_INTERVAL": None}, "every 60 s"),
        ({"OTEL_RESOURCE_ATTRIBUTES": "service.instance.id=1"}, "two processes overwrite each other"),
        ({"OTEL_TRACES_SAMPLER": "always_off"}, "no span is recorded"),
        ({"LLM_ERRORS_LOGS": "false"}, "no log record is emitted"),
    ],
)
def test_what_is_worth_knowing_is_noted(sound, diagnosed, changed, what):
    sound(**changed)
    assert grades(diagnosed(), what) == ["note"]


def test_the_service_name_may_stand_in_the_resource_attributes(sound, faults):
    sound(OTEL_SERVICE_NAME=None, OTEL_RESOURCE_ATTRIBUTES="service.name=desk,team=support")
    assert faults() == []


def test_a_configuration_file_is_said_not_to_be_examined(sound, diagnosed):
    sound(OTEL_CONFIG_FILE="/etc/otel.yaml")
    assert grades(diagnosed(), "OTEL_CONFIG_FILE") == ["unchecked"]
