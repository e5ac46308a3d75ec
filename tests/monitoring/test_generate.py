"""The command: what it writes, that it writes all or nothing, and how it refuses."""

import builtins
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from artifact_tools import DEBIAN, REPOSITORY, STACK, tool

from llm_errors.monitoring import arguments, generate
from llm_errors.monitoring.marker import MARKER
from llm_errors.monitoring.options import SHARES, Options
from llm_errors.tools.cli import main

EVERY_ARGUMENT = (
    *("--objective", "99.9", "--window", "28d", "--service-label", "service_name", "--name", "pay"),
    *("--service-objective", "chat/api=99", "--own-keys", "portal", "--batch-job", "nightly"),
    *("--extra-label", "k8s_namespace_name", "--selector", 'region=~"eu-.*"', "--selector", 'tier!=""'),
    *("--severity", "page=critical", "--severity", "info=none", "--threshold", "RATE_LIMITED=5:50"),
    *("--team", "namespace=checkout=checkout-on-call", "--team", "service_name=chat=chat.team"),
)


def rules(folder: Path) -> str:
    return (folder / "prometheus/llm-errors.rules.yml").read_text()


def alerts(folder: Path, name: str) -> list[dict[str, Any]]:
    groups = yaml.safe_load(rules(folder))["groups"]
    return [rule for group in groups for rule in group["rules"] if rule.get("alert") == name]


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def write(folder: Path, *arguments: str) -> Path:
    assert main(["generate", "--no-dashboards", "--out", str(folder), *arguments]) == 0
    return folder


def test_the_committed_files_are_what_the_taxonomy_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    assert main(["generate", "--check"]) == 0


def test_a_changed_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changed = write(tmp_path) / "alertmanager.yml"
    changed.write_text(f"# {MARKER}\nroute: {{}}\n")
    capsys.readouterr()
    assert main(["generate", "--no-dashboards", "--check", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"differs: {changed}\n"


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gone = write(tmp_path) / "alertmanager.yml"
    gone.unlink()
    capsys.readouterr()
    assert main(["generate", "--no-dashboards", "--check", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"missing: {gone}\n"


def test_a_file_of_an_earlier_version_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["generate", "--out", str(tmp_path)])
    old = tmp_path / "grafana/llm-old.json"
    old.write_text(json.dumps({"description": f"What was. {MARKER}."}))
    (tmp_path / "grafana/mine.json").write_text("{}")
    capsys.readouterr()
    assert main(["generate", "--check", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"left over: {old}\n"


def test_check_writes_nothing(tmp_path: Path) -> None:
    main(["generate", "--check", "--out", str(tmp_path)])
    assert files(tmp_path) == set()


def test_an_objective_reaches_rules_and_dashboards(tmp_path: Path) -> None:
    main(["generate", "--out", str(tmp_path), "--objective", "99.9"])
    assert "+ 0.999" in rules(tmp_path)
    assert '"value": 0.999' in (tmp_path / "grafana/llm-reliability.json").read_text()


def test_a_service_has_its_own_objective(tmp_path: Path) -> None:
    assert '{job="chat"} + 0.99\n' in rules(write(tmp_path, "--service-objective", "chat=99"))


def test_the_budget_has_its_own_period(tmp_path: Path) -> None:
    assert "record: job:llm_slo_budget_remaining:ratio28d" in rules(write(tmp_path, "--window", "28d"))


def test_every_file_says_that_it_is_generated(tmp_path: Path) -> None:
    assert main(["generate", "--out", str(tmp_path)]) == 0
    assert [name for name in files(tmp_path) if MARKER not in (tmp_path / name).read_text()] == []


def test_outside_a_checkout_the_folder_must_be_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["generate"]) == 2
    assert "--out DIR" in capsys.readouterr().err
    assert files(tmp_path) == set()


@pytest.mark.parametrize("name", ["alertmanager.yml", "runbooks/LLMBadRequests.md", "grafana/llm-overview.json"])
def test_a_file_of_the_users_own_is_never_overwritten(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    assert main(["generate", "--out", str(tmp_path)]) == 2
    assert name in capsys.readouterr().err
    assert (tmp_path / name).read_text() == "mine"
    assert files(tmp_path) == {name}


def test_a_check_tells_that_a_file_of_the_users_own_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = write(tmp_path) / "alertmanager.yml"
    own.write_text("mine")
    capsys.readouterr()
    assert main(["generate", "--no-dashboards", "--check", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"differs: {own}\n"


def test_a_second_run_renews_what_the_first_has_written(tmp_path: Path) -> None:
    write(tmp_path)
    write(tmp_path, "--objective", "99.9")
    assert "+ 0.999" in rules(tmp_path)


def test_the_runbooks_come_along(tmp_path: Path) -> None:
    written = {path.name for path in (write(tmp_path) / "runbooks").iterdir()}
    assert written == {path.name for path in (REPOSITORY / "dashboards/runbooks").iterdir()}


def test_the_runbooks_of_a_tailoring_query_its_own_series(tmp_path: Path) -> None:
    write(tmp_path, "--service-label", "service_name", "--window", "28d")
    pages = "".join(path.read_text() for path in (tmp_path / "runbooks").iterdir())
    codes = re.findall(r"```.*?```|`[^`\n]+`", pages, re.DOTALL)
    assert [code for code in codes if re.search(r"\bjob\b|ratio30d", code)] == []
    assert any("service_name" in code for code in codes)


def test_in_a_checkout_the_runbooks_stay_as_they_were_written() -> None:
    assert generate.beside(REPOSITORY / "dashboards", Options()) == {}


def test_what_promtool_refuses_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "bin/promtool"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'group llm-events: a fault' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    assert main(["generate", "--no-dashboards", "--out", str(tmp_path / "out")]) == 2
    assert "promtool refuses prometheus/llm-errors.rules.yml: group llm-events: a fault" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_promtool_and_amtool_take_a_tailoring_with_every_argument(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [str(Path(tool(name, *where)).parent) for name in ("promtool", "amtool") for where in ([STACK], [DEBIAN])]
    for folder in dict.fromkeys(folders):
        monkeypatch.setenv("PATH", folder)
        write(tmp_path, *EVERY_ARGUMENT)
        assert "checked by promtool and amtool" in capsys.readouterr().out


def test_a_closed_pipe_is_silent(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "llm_errors", "generate", "--check", "--no-dashboards", "--out", str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        assert running.stderr.read() == b""


def test_a_service_label_replaces_job(tmp_path: Path) -> None:
    text = rules(write(tmp_path, "--service-label", "service_name"))
    assert "sum by (service_name," in text
    found = [rule for group in yaml.safe_load(text)["groups"] for rule in group["rules"]]
    of_the_pipeline = ("prometheus_", "otelcol_")  # these series have the job of the program itself
    assert [r for r in found if "job" in r["expr"] and not any(name in r["expr"] for name in of_the_pipeline)] == []


def test_a_selector_is_on_every_raw_series(tmp_path: Path) -> None:
    text = rules(write(tmp_path, "--selector", 'cluster="prod"'))
    raw = re.findall(r"(?<!\|)\bllm_(?:calls|errors|retries|instrumentation_errors)_total\b(.*)", text)
    assert raw
    assert [rest for rest in raw if not rest.startswith('{cluster="prod"')] == []


def test_a_label_of_the_users_goes_through_every_sum(tmp_path: Path) -> None:
    text = rules(write(tmp_path, "--extra-label", "k8s_namespace_name"))
    summed = re.findall(r"(?:sum|group|count) by \((job, [^)]*)\)", text)
    assert summed
    assert all("k8s_namespace_name" in labels for labels in summed)


def test_a_set_with_a_name_shares_no_group_and_no_series_with_another(tmp_path: Path) -> None:
    named, plain = (
        yaml.safe_load(rules(folder))["groups"]
        for folder in (write(tmp_path / "named", "--name", "eu"), write(tmp_path / "plain"))
    )
    assert not {group["name"] for group in named} & {group["name"] for group in plain}
    records = [{r["record"] for g in groups for r in g["rules"] if "record" in r} for groups in (named, plain)]
    assert not records[0] & records[1]
    assert all(r["labels"]["rule_set"] == "eu" for g in named for r in g["rules"] if "alert" in r)


def test_severities_take_other_names_in_rules_and_routes(tmp_path: Path) -> None:
    write(tmp_path, "--severity", "page=critical")
    assert "severity: page" not in rules(tmp_path)
    assert 'severity="critical"' in (tmp_path / "alertmanager.yml").read_text()


def test_runbook_links_start_where_told(tmp_path: Path) -> None:
    write(tmp_path, "--runbook-base", "https://wiki.example/llm/")
    assert "runbook_url: https://wiki.example/llm/LLMBadRequests.md" in rules(tmp_path)


def test_own_keys_make_a_ticket_of_the_page(tmp_path: Path) -> None:
    write(tmp_path, "--own-keys", "byok")
    found = {rule["labels"]["severity"]: rule["expr"] for rule in alerts(tmp_path, "LLMCredentialOrModelError")}
    assert 'job!~"byok"' in found["page"]
    assert 'job="byok"' in found["ticket"]


def test_a_threshold_replaces_percentage_and_minimum(tmp_path: Path) -> None:
    (rule,) = alerts(write(tmp_path, "--threshold", "RATE_LIMITED=7:33"), "LLMRateLimitSpike")
    assert "> 0.07" in rule["expr"]
    assert rule["expr"].count(">= 33") == 2


def test_the_operator_resource_holds_the_same_rules(tmp_path: Path) -> None:
    write(tmp_path)
    resource = yaml.safe_load((tmp_path / "prometheus/prometheusrule.yml").read_text())
    assert resource["spec"] == yaml.safe_load(rules(tmp_path))


def test_grafana_alerts_point_to_panels_that_exist() -> None:
    folder = REPOSITORY / "dashboards"
    managed = yaml.safe_load((folder / "provisioning/alerting/grafana-alerting.yml").read_text())
    for rule in (rule for group in managed["groups"] for rule in group["rules"]):
        notes = rule["annotations"]
        board = json.loads((folder / f"grafana/{notes['__dashboardUid__']}.json").read_text())
        assert int(notes["__panelId__"]) in {panel["id"] for panel in board["panels"]}


def test_grafana_alerts_have_unique_names() -> None:
    managed = yaml.safe_load((REPOSITORY / "dashboards/provisioning/alerting/grafana-alerting.yml").read_text())
    rules_ = [rule for group in managed["groups"] for rule in group["rules"]]
    assert len({rule["uid"] for rule in rules_}) == len({rule["title"] for rule in rules_}) == len(rules_)


REFUSALS = {
    "--objective 80": "from 95 to below 100",
    "--objective 100": "from 95 to below 100",
    "--objective high": "not a number",
    "--window 3d": "7d to 90d",
    "--window month": "7d to 90d",
    "--service-objective chat": "SERVICE=PERCENT",
    "--service-objective chat=12": "from 95 to below 100",
    "--service-objective ch*t=99": "letters, digits",
    "--own-keys a|b": "letters, digits",
    "--service-label 9job": "Prometheus label name",
    "--selector cluster": "PromQL matcher",
    '--selector a="b"}': "PromQL matcher",
    "--severity urgent=critical": "page, ticket, info",
    "--severity page=": "page, ticket, info",
    "--runbook-base wiki": "http(s) address",
    "--threshold NO_SUCH=3": "RATE_LIMITED",
    "--threshold AUTH=3": "RATE_LIMITED",
    "--threshold RATE_LIMITED=200": "between 0 and 100",
    "--threshold RATE_LIMITED=0": "between 0 and 100",
    "--threshold RATE_LIMITED=3:0": "whole number",
    "--service-label llm_error_class": "the rules use this label themselves",
    "--service-label gen_ai_request_model": "the rules use this label themselves",
    "--service-label severity": "the rules use this label themselves",
    "--service-label __name__": "Prometheus label name",
    "--extra-label view": "the rules use this label themselves",
    "--name 1st": "starting with a letter",
    "--name a_name_of_twenty_five_long": "up to 24 letters",
    '--selector namespace=~"a("': "unterminated subpattern",
    '--selector namespace=~"a(?=b)"': "Prometheus (RE2)",
    '--selector namespace=~"a++"': "Prometheus (RE2)",
    '--selector llm_error_class="AUTH"': "not all series have llm_error_class",
    '--selector __name__="up"': "not all series have __name__",
    "--severity page=ticket": "three different names",
    "--runbook-base https://wiki.example/?page=": "that a file name can follow",
    "--batch-job a|b": "letters, digits",
    "--team checkout": "LABEL=VALUE=RECEIVER",
    "--team namespace=checkout": "LABEL=VALUE=RECEIVER",
    "--team pod=a=checkout": "no alert carries the label 'pod'",
    "--team namespace=a=b c": "receiver 'b c'",
    "--readme /no/such/README.md": "/no/such/README.md",
}
CONTRADICTIONS = {
    "no series has both": ("--selector", 'cluster="a"', "--selector", 'cluster="b"'),
    "chat is given twice": ("--service-objective", "chat=99", "--service-objective", "chat=99.9"),
    "TRUNCATED is given twice": ("--threshold", "TRUNCATED=5", "--threshold", "TRUNCATED=6"),
    "page is given twice": ("--severity", "page=critical", "--severity", "page=p1"),
    "two receivers": ("--team", "job=chat=red", "--team", "job=chat=blue"),
}


@pytest.mark.parametrize("arguments", REFUSALS)
def test_a_refusal_is_one_line_that_says_what_is_allowed(
    arguments: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", "--out", str(tmp_path), *arguments.split(" ", 1)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert REFUSALS[arguments] in said


@pytest.mark.parametrize("arguments", REFUSALS)
def test_a_refusal_writes_nothing(arguments: str, tmp_path: Path) -> None:
    main(["generate", "--out", str(tmp_path), *arguments.split(" ", 1)])
    assert files(tmp_path) == set()


@pytest.mark.parametrize(("label", "noted"), [("namespace", 1), ("job", 0)])
def test_a_team_by_the_label_namespace_is_written_with_a_note_that_pushed_metrics_have_none(
    label: str, noted: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "--team", f"{label}=web=web-team")
    assert f'{label}="web"' in (tmp_path / "alertmanager.yml").read_text()
    said = capsys.readouterr().err
    assert said.count("\n") == noted
    assert ("--team k8s_namespace_name=web=web-team" in said) == bool(noted)


@pytest.mark.parametrize("refusal", CONTRADICTIONS)
def test_arguments_that_contradict_each_other_are_refused(
    refusal: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", "--out", str(tmp_path), *CONTRADICTIONS[refusal]]) == 2
    assert refusal in capsys.readouterr().err
    assert files(tmp_path) == set()


@pytest.mark.parametrize(
    "regex",
    ["a|b", "[*+]+", "(?i)prod-.*", "(?:a|b)*", "(?P<one>a)", "[^a-z]*", "pay[.]ments", "(?i:a)"],
)
def test_what_prometheus_takes_as_a_regular_expression_is_taken(regex: str) -> None:
    assert arguments.selector(f'namespace=~"{regex}"')


def test_a_folder_in_the_way_is_named_and_nothing_is_half_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "provisioning").write_text("a file where a folder must be")
    assert main(["generate", "--no-dashboards", "--out", str(tmp_path)]) == 2
    assert str(tmp_path / "provisioning") in capsys.readouterr().err
    assert files(tmp_path) == {"provisioning"}


def test_it_says_how_many_files_have_changed(tmp_path: Path) -> None:
    (tmp_path / "same").write_text("a")
    (tmp_path / "other").write_text("a")
    assert generate.write({tmp_path / "same": "a", tmp_path / "other": "b", tmp_path / "new": "c"}) == 2


def test_a_failing_disk_leaves_the_old_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_text("old")
    written: list[Path] = []
    whole = Path.write_text

    def full_disk(path: Path, *args: Any, **more: Any) -> int:
        written.append(path)
        if len(written) == 2:
            raise OSError(28, "No space left on device", str(path))
        return whole(path, *args, **more)

    monkeypatch.setattr(Path, "write_text", full_disk)
    with pytest.raises(OSError, match="No space"):
        generate.write({tmp_path / "a": "new", tmp_path / "b": "new"})
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "old"}


@pytest.mark.parametrize(
    ("version", "says"), [((3, 11), "pip install 'llm-errors[generate]'"), ((3, 10), "need Python 3.11 or newer")]
)
def test_without_the_sdk_of_grafana_it_says_what_to_do(
    version: tuple[int, int],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    real = builtins.__import__

    def without_sdk(name: str, *args: Any, **more: Any) -> Any:
        if name == "llm_errors.monitoring.dashboards":
            raise ModuleNotFoundError("No module named 'grafana_foundation_sdk'", name="grafana_foundation_sdk")
        return real(name, *args, **more)

    monkeypatch.setattr(builtins, "__import__", without_sdk)
    monkeypatch.setattr("sys.version_info", version)
    assert main(["generate", "--out", str(tmp_path)]) == 2
    assert says in capsys.readouterr().err


README = "".join(
    f"<!-- generated:{name} -->\nold\n<!-- /generated:{name} -->\n" for name in ("taxonomy", "reasons", "alerts")
)


def test_the_readme_keeps_what_is_between_the_blocks(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("# Mine\n" + README + "the end\n")
    write(tmp_path / "out", "--readme", str(readme))
    text = readme.read_text()
    assert (text.startswith("# Mine\n"), text.endswith("the end\n"), "\nold\n" in text) == (True, True, False)


def test_a_readme_without_a_block_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(README.replace("<!-- generated:alerts -->", ""))
    assert main(["generate", "--no-dashboards", "--out", str(tmp_path / "out"), "--readme", str(readme)]) == 2
    assert "<!-- generated:alerts -->" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Mine\n", "no generated block"),
        ("<!-- generated:nothing -->\n<!-- /generated:nothing -->\n", "<!-- generated:nothing --> names no block"),
    ],
)
def test_a_page_without_a_known_block_is_refused(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    assert main(["generate", "--no-dashboards", "--out", str(tmp_path / "out"), "--readme", str(page)]) == 2
    assert said in capsys.readouterr().err


def test_a_readme_that_is_no_text_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = tmp_path / "README.md"
    readme.write_bytes(os.urandom(16) + b"\xff\xfe")
    assert main(["generate", "--no-dashboards", "--out", str(tmp_path / "out"), "--readme", str(readme)]) == 2
    assert "UTF-8" in capsys.readouterr().err


def test_shares_of_the_options_are_not_shared_between_tailorings() -> None:
    assert Options().shares == SHARES
    assert Options().shares is not SHARES
