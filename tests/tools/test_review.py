"""The weekly review, against answers shaped as Prometheus, Tempo, Loki and the Collector's file exporter shape theirs."""

import io
import json
import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from llm_errors.rules import user
from llm_errors.testing.provider import Reply, Request
from llm_errors.tools import cli

NOW = time.time()


def attribute(key: str, value: Any) -> dict[str, Any]:
    if isinstance(value, list):
        return {"key": key, "value": {"arrayValue": {"values": [{"stringValue": v} for v in value]}}}
    return {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}


def attributes(fingerprint: str, **more: Any) -> list[dict[str, Any]]:
    given = {
        "llm.error.class": "UNKNOWN",
        "llm.error.reason": "unrecognised_error",
        "llm.error.fingerprint": fingerprint,
        "gen_ai.provider.name": "deepseek",
        "llm.error.status_code": 418,
        "llm.error.code": "teapot",
        "error.type": "openai.APIStatusError",
        **{k.replace("__", "."): v for k, v in more.items()},
    }
    return [attribute(k, v) for k, v in given.items()]


def span(fingerprint: str, ago: float, number: int, **more: Any) -> dict[str, Any]:
    nanos = str(int((NOW - ago) * 1e9))
    return {
        "traceId": f"trace{number}",
        "spanId": f"span{number}",
        "endTimeUnixNano": nanos,
        "attributes": attributes(fingerprint, **more),
    }


def export(*spans: Any, logs: Any = ()) -> str:
    document: dict[str, Any] = {}
    if spans:
        document["resourceSpans"] = [{"scopeSpans": [{"spans": list(spans)}]}]
    if logs:
        document["resourceLogs"] = [{"scopeLogs": [{"logRecords": list(logs)}]}]
    return json.dumps(document) + "\n"


DAY = 86400.0
FINISH = {
    "llm__error__evidence": "finish_reason",
    "llm__error__code": "ODD",
    "gen_ai__response__finish_reasons": ["ODD"],
}


@pytest.fixture
def otlp(tmp_path: Path) -> str:
    log = {k: v for k, v in span("aaa", 2 * DAY, 1).items() if k != "endTimeUnixNano"}
    log["timeUnixNano"] = str(int((NOW - 2 * DAY) * 1e9))
    healthy = {"traceId": "t", "spanId": "s", "endTimeUnixNano": str(int(NOW * 1e9)), "attributes": []}
    path = tmp_path / "export.jsonl"
    path.write_text(
        export(span("aaa", 2 * DAY, 1), span("aaa", DAY, 2), healthy)
        + "\n"
        + export(logs=[log])
        + export(span("bbb", DAY, 3, **FINISH), span("old", 8 * DAY, 4))
    )
    return str(path)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*argv: str) -> tuple[int, str, str]:
        status = cli.main(("review", *argv))
        return (status, *capsys.readouterr())

    return call


def report_of(command: Any, *argv: str) -> dict[str, Any]:
    status, out, err = command(*argv, "--json")
    assert (status, err) == (0, "")
    found: dict[str, Any] = json.loads(out)
    return found


def test_failures_are_grouped_by_fingerprint_and_counted_once(command: Any, otlp: str) -> None:
    groups = report_of(command, "--otlp-file", otlp)["fingerprints"]
    assert [(g["fingerprint"], g["count"]) for g in groups] == [("aaa", 2), ("bbb", 1)]
    assert groups[0]["trace"] == "trace2"
    assert groups[0]["first_seen"] < groups[0]["last_seen"]


def test_the_window_can_be_chosen(command: Any, otlp: str) -> None:
    groups = report_of(command, "--otlp-file", otlp, "--days", "30")["fingerprints"]
    assert {g["fingerprint"] for g in groups} == {"aaa", "bbb", "old"}


def test_every_group_comes_with_a_row_that_is_right_as_it_stands(command: Any, otlp: str) -> None:
    groups = report_of(command, "--otlp-file", otlp)["fingerprints"]
    assert [user.parse(g["toml"].replace('"UNKNOWN"', '"SERVER"'))[1] for g in groups] == [[], []]
    assert 'codes = ["teapot"]' in groups[0]["toml"]
    assert 'finish = ["ODD"]' in groups[1]["toml"]


def test_the_tables(command: Any, otlp: str) -> None:
    _, out, _ = command("--otlp-file", otlp)
    assert "count  fingerprint  first seen" in out
    assert "trace trace2" in out
    assert 'id = "unknown.aaa"' in out


def test_standard_input(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(export(span("aaa", DAY, 1))))
    assert report_of(command, "--otlp-file", "-")["fingerprints"][0]["count"] == 1


def test_nothing_unknown(command: Any, tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_text("")
    assert command("--otlp-file", str(path))[1] == "no UNKNOWN failures in the last 7 days\n"


def test_prometheus_gives_the_totals(command: Any, provider: Any) -> None:
    asked: list[str] = []

    def answer(request: Request) -> Reply:
        asked.append(parse_qs(urlsplit(request.path).query)["query"][0])
        labels = {"job": "shop", "gen_ai_provider_name": "deepseek", "llm_error_reason": "unrecognised_error"}
        series = [{"metric": labels, "value": [NOW, "3.2"]}, {"metric": {"job": "idle"}, "value": [NOW, "0"]}]
        return Reply(json={"status": "success", "data": {"resultType": "vector", "result": series}})

    url = provider(answer).url
    report = report_of(command, "--prometheus", url)
    assert report["totals"] == [
        {"service": "shop", "provider": "deepseek", "model": "", "reason": "unrecognised_error", "count": 3}
    ]
    assert 'llm_errors_total{llm_error_class="UNKNOWN"}[604800s]' in asked[0]
    out = command("--prometheus", url)[1]
    assert out.startswith("UNKNOWN in the last 7 days\n\ncount  service  provider  reason\n")


def test_tempo_gives_the_fingerprints(command: Any, provider: Any) -> None:
    found = {"spanID": "s1", "startTimeUnixNano": str(int(NOW * 1e9)), "attributes": attributes("aaa")}

    def answer(request: Request) -> Reply:
        assert "span.llm.error.class" in parse_qs(urlsplit(request.path).query)["q"][0]
        return Reply(json={"traces": [{"traceID": "t1", "spanSets": [{"spans": [found]}]}]})

    groups = report_of(command, "--tempo", provider(answer).url)["fingerprints"]
    assert [(g["fingerprint"], g["trace"], g["status"]) for g in groups] == [("aaa", "t1", "418")]


def test_loki_gives_the_fingerprints(command: Any, provider: Any) -> None:
    labels = {
        "llm_error_class": "UNKNOWN",
        "llm_error_fingerprint": "aaa",
        "llm_error_reason": "empty_response",
        "gen_ai_provider_name": "deepseek",
        "trace_id": "t1",
    }
    entries = [[str(int((NOW - n) * 1e9)), "line"] for n in (1, 2)]
    reply = Reply(
        json={"status": "success", "data": {"resultType": "streams", "result": [{"stream": labels, "values": entries}]}}
    )
    groups = report_of(command, "--loki", provider([reply]).url)["fingerprints"]
    assert [(g["fingerprint"], g["count"], g["trace"]) for g in groups] == [("aaa", 2, "t1")]
    assert 'facts = ["empty"]' in groups[0]["toml"]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "llm-errors review: give --prometheus, --tempo, --loki or --otlp-file"),
        (["--otlp-file", "none.jsonl"], "llm-errors review: none.jsonl: No such file or directory"),
        (["--prometheus", "localhost:9090"], "llm-errors review: not a URL: localhost:9090 (use http://host:port)"),
        (
            ["--prometheus", "http://127.0.0.1:9"],
            "llm-errors review: cannot query http://127.0.0.1:9: connection refused",
        ),
        (["--otlp-file", "x", "--days", "0"], "llm-errors review: --days must be between 0 and 366"),
    ],
)
def test_bad_input_is_one_line(command: Any, arguments: list[str], line: str) -> None:
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith(line)
    assert err.count("\n") == 1


@pytest.mark.parametrize("content", ["no json\n", "[1]\n", '{"hello": 1}\n', "[" * 100_000, '{"resourceSpans": [1]}\n'])
def test_a_file_that_is_no_export(command: Any, tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(content)
    assert command("--otlp-file", str(path))[2].endswith("is not OTLP JSON, one export per line\n")


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(text="hello"), "does not answer with JSON"),
        (Reply(json=[1]), "does not answer as expected"),
        (Reply(500, json={}), "HTTP 500"),
        (Reply(401, json={}), "HTTP 401"),
        (Reply(json={"hello": 1}), "does not answer like Prometheus"),
        (Reply(json={"status": "error", "error": "parse error"}), "parse error"),
    ],
)
def test_a_source_that_answers_something_else(command: Any, provider: Any, reply: Reply, said: str) -> None:
    assert said in command("--prometheus", provider([reply]).url)[2]


@pytest.mark.parametrize("source", ["tempo", "loki"])
def test_foreign_json_is_no_answer(command: Any, provider: Any, source: str) -> None:
    status, out, err = command(f"--{source}", provider([Reply(json={"hello": 1})]).url)
    assert (status, out) == (2, "")
    assert f"does not answer like {source.capitalize()}" in err


def test_headers_reach_a_secured_source(command: Any, provider: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def answer(request: Request) -> Reply:
        seen.append((request.headers.get("authorization"), request.headers.get("x-scope-orgid")))
        return Reply(json={"traces": []})

    url = provider(answer).url
    monkeypatch.setenv("TEMPO_HEADERS", "Authorization=Bearer%20secret")
    command("--tempo", url, "--header", "X-Scope-OrgID: 7")
    assert seen == [("Bearer secret", "7")]


def test_a_password_in_the_url_is_sent_and_never_shown(command: Any, provider: Any) -> None:
    seen: list[Any] = []

    def answer(request: Request) -> Reply:
        seen.append(request.headers.get("authorization"))
        return Reply(401, json={})

    err = command("--prometheus", provider(answer).url.replace("//", "//ada:hunter2@"))[2]
    assert seen == ["Basic YWRhOmh1bnRlcjI="]
    assert "hunter2" not in err


def test_credentials_of_one_source_do_not_reach_another(
    command: Any, provider: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Any] = []

    def answer(request: Request) -> Reply:
        seen.append(request.headers.get("authorization"))
        return Reply(json={"traces": []})

    monkeypatch.setenv("PROMETHEUS_HEADERS", "Authorization=Bearer%20secret")
    command("--tempo", provider(answer).url)
    assert seen == [None]


def test_a_service_has_the_name_that_prometheus_gives_its_job(command: Any, tmp_path: Path) -> None:
    document = json.loads(export(span("aaa", DAY, 1)))
    resource = [attribute("service.name", "desk"), attribute("service.namespace", "shop")]
    document["resourceSpans"][0]["resource"] = {"attributes": resource}
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(document))
    assert report_of(command, "--otlp-file", str(path))["fingerprints"][0]["service"] == "shop/desk"


@pytest.mark.parametrize(
    ("reason", "fact"), [("empty_response", "empty"), ("unexpected_body", "unexpected_body"), ("other", "")]
)
def test_a_rule_for_a_failure_inside_a_good_response_can_be_used(
    command: Any, provider: Any, reason: str, fact: str
) -> None:
    labels = {
        "llm_error_class": "UNKNOWN",
        "llm_error_fingerprint": "aaa",
        "llm_error_reason": reason,
        "error_type": "UNKNOWN",
        "gen_ai_provider_name": "deepseek",
        "trace_id": "t1",
    }
    entries = [[str(int(NOW * 1e9)), "line"]]
    found = {"resultType": "streams", "result": [{"stream": labels, "values": entries}]}
    (group,) = report_of(command, "--loki", provider([Reply(json={"status": "success", "data": found})]).url)[
        "fingerprints"
    ]
    rules, _ = user.parse(group["toml"].replace('class = "UNKNOWN"', 'class = "SERVER"'))
    assert [sorted(rule.facts) for rule in rules] == ([[fact]] if fact else [])
    assert "exceptions" not in group["toml"]
