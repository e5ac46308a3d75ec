"""Every TraceQL and LogQL query of dashboards, of their links and of runbooks is parsed by Grafana's own grammars."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from artifact_tools import REPOSITORY, missing

pytest.importorskip("grafana_foundation_sdk", reason="dashboards need the extra `generate`")

from explore_links import explored

from llm_errors.monitoring import dashboards
from llm_errors.monitoring.options import Options

HERE = Path(__file__).parent / "query_languages"
INSTALLED = REPOSITORY / ".cache/query-languages"
RUNBOOKS = sorted((REPOSITORY / "dashboards/runbooks").glob("*.md"))
KINDS = {"tempo": ("traceql", "query"), "loki": ("logql", "expr")}

Query = tuple[str, str]


def of_boards() -> dict[str, Query]:
    """The queries of panels and of their links, by panel and query."""
    found: dict[str, Query] = {}
    for uid, board in dashboards.build(Options()).items():
        for panel in board["panels"]:
            targets = [*panel.get("targets", ()), *(t for link in explored(panel) for t in link.targets)]
            for target in targets:
                if target["datasource"]["type"] in KINDS:
                    language, key = KINDS[target["datasource"]["type"]]
                    query = target[key].replace("$__range", "1h")
                    found[f"{uid}/{panel['title']}: {query}"] = (language, query)
    return found


def of_runbooks() -> dict[str, Query]:
    """The queries that runbooks tell to paste, by page and query."""
    found: dict[str, Query] = {}
    for page in RUNBOOKS:
        for line in page.read_text(encoding="utf-8").splitlines():
            words = re.match(r"- (Traces|Logs): ", line)
            for query in re.findall(r"`(\{[^`]*)`", line) if words else ():
                found[f"{page.stem}: {query}"] = ("traceql" if words and words[1] == "Traces" else "logql", query)
    return found


QUERIES = {**of_boards(), **of_runbooks()}


@pytest.fixture(scope="session")
def errors() -> dict[str, Any]:
    """Where the first error of each query is, or None."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if not (node and npm):
        missing("Node and npm are not installed: TraceQL and LogQL cannot be parsed")
    INSTALLED.mkdir(parents=True, exist_ok=True)
    for file in HERE.iterdir():
        shutil.copy(file, INSTALLED)
    flags = ("--ignore-scripts", "--no-package-lock", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error")
    installed = subprocess.run(
        [str(npm), "install", *flags], cwd=INSTALLED, capture_output=True, text=True, timeout=300
    )
    if installed.returncode:
        missing(f"npm cannot install Grafana's grammars: {installed.stderr[-300:]}")
    asked = [*QUERIES.values(), *WRONG]
    done = subprocess.run(
        [str(node), "parse.mjs"], cwd=INSTALLED, input=json.dumps(asked), capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return dict(zip([*QUERIES, *map(str, WRONG)], json.loads(done.stdout), strict=True))


WRONG = [("traceql", '{ span.llm.error.class = "AUTH" && }'), ("logql", '{service_name="x"} | llm_error_class=~"A|B')]


@pytest.mark.parametrize("name", QUERIES)
def test_grafana_can_parse_the_query(name: str, errors: dict[str, Any]) -> None:
    assert errors[name] is None


@pytest.mark.parametrize("wrong", WRONG, ids=lambda query: query[0])
def test_a_wrong_query_is_found(wrong: Query, errors: dict[str, Any]) -> None:
    assert errors[str(wrong)] is not None


@pytest.mark.parametrize("page", RUNBOOKS, ids=lambda path: path.stem)
def test_the_queries_of_each_runbook_are_found(page: Path) -> None:
    written = [
        line for line in page.read_text(encoding="utf-8").splitlines() if re.match(r"- (Traces|Logs): .*`\{", line)
    ]
    assert written
    assert len([name for name in QUERIES if name.startswith(f"{page.stem}: ")]) >= len(written)
