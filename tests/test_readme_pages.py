"""README and the pages of `llm-errors docs`: every link leads somewhere, and every block works."""

import os
import random
import re
import shlex
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from llm_errors.rules.user._entry import CONDITIONS, DIALECTS, FACTS
from llm_errors.tools import cli

try:
    import tomllib
except ModuleNotFoundError:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "src/llm_errors/docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
REPOSITORY = "https://github.com/llm-errors/llm-errors/blob/main/"
RAW = "https://raw.githubusercontent.com/llm-errors/llm-errors/main/"
OTHER_ADDRESSES = (
    "https://semver.org/",
    "https://github.com/llm-errors/llm-errors/security/advisories/new",
    "https://github.com/open-telemetry/opentelemetry-operator",
)
LANGUAGES = {"python", "toml", "console", "text", "yaml"}
CLUSTER = ("kubectl", "helm", "docker")  # tests/monitoring/test_kubernetes_page.py looks at what they are given
VARIABLES = re.compile(r"OTEL_[A-Z_]+|DJANGO_SETTINGS_MODULE")

each_page = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)


def headings(path: Path) -> set[str]:
    prose = re.sub(r"^```.*?^```", "", path.read_text(), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.*)$", prose, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def lines(page: Path) -> list[str]:
    """What the console blocks enter, without comments."""
    return [
        line[2:].partition(" #")[0].strip()
        for block in blocks(page, "console")
        for line in block.splitlines()
        if line.startswith("$ ")
    ]


def assert_parses(command: str) -> None:
    words = shlex.split(command)[1:]
    cli._parser(words[0]).parse_args(words)


@each_page
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        address, _, heading = link.partition("#")
        if address in OTHER_ADDRESSES:
            continue
        local = [address.removeprefix(base) for base in (REPOSITORY, RAW) if address.startswith(base)]
        target = ROOT / local[0] if local else page.parent / address if address else page
        assert target.exists(), link
        assert not heading or heading in headings(target), link


def test_a_page_in_the_package_links_to_nothing_outside_of_it_by_a_relative_address() -> None:
    links = [link for page in PAGES[1:] for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text())]
    relative = {link.partition("#")[0] for link in links if not link.startswith(("https://", "#"))}
    assert relative <= {page.name for page in PAGES[1:]}


@each_page
def test_every_block_is_in_a_language_that_is_tested(page: Path) -> None:
    fences = re.findall(r"^```(\w*)", page.read_text(), re.MULTILINE)
    assert set(fences[::2]) <= LANGUAGES
    assert set(fences[1::2]) <= {""}


@each_page
def test_every_command_of_ours_is_one(page: Path) -> None:
    for line in lines(page):
        if line.startswith("llm-errors "):
            assert_parses(line)


@each_page
def test_every_other_line_is_of_a_known_kind(page: Path) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for line in lines(page):
        program, *words = shlex.split(line)
        assert program in ("llm-errors", "pip", "export", "opentelemetry-instrument", *CLUSTER), line
        if program == "export":
            assert all(VARIABLES.fullmatch(word.partition("=")[0]) for word in words), line
        for extra in re.findall(r"llm-errors\[(\w+)\]", line):
            assert extra in extras


RUN_HERE = [
    (page, number)
    for page in PAGES
    if page.stem != "recovery"
    for number, code in enumerate(blocks(page, "python"))
    if "from flushing import" not in code
]
"""Blocks that need nothing but us. The others run beside what they are for, in tests/recovery and tests/quickstarts."""


@pytest.mark.parametrize(
    ("page", "number"), RUN_HERE,
    ids=lambda value: value.stem if isinstance(value, Path) else str(value),
)  # fmt: skip
def test_a_python_block_runs_and_prints_what_its_comments_say(page: Path, number: int) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.grpc")
    code = blocks(page, "python")[number]
    quiet = "import os; os.environ.update(OTEL_EXPORTER_OTLP_TIMEOUT='1')\n"
    end = "\nimport os, sys; sys.stdout.flush(); os._exit(0)\n"  # nobody listens: do not wait for the exporters
    done = subprocess.run([sys.executable, "-c", quiet + code + end], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    wanted = [line.split("# ")[1] for line in code.splitlines() if line.startswith("print(")]
    assert done.stdout.splitlines() == wanted


@each_page
def test_yaml_is_valid(page: Path) -> None:
    yaml = pytest.importorskip("yaml")
    assert all(one for block in blocks(page, "yaml") for one in yaml.safe_load_all(block))


def test_the_page_on_rules_lists_every_condition_dialect_and_fact() -> None:
    rows = [line for line in (DOCS / "rules.md").read_text().splitlines() if line.startswith("| `")]
    listed = [re.findall(r"`(\w+)`", row) for row in rows]
    assert {names[0] for names in listed} == {*CONDITIONS, *FACTS}
    assert next(names[1:] for names in listed if names[0] == "dialects") == list(DIALECTS)


def test_the_readme_is_one_screen() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) < 90


def test_the_report_in_the_readme_is_a_part_of_the_demos() -> None:
    shown = next(block for block in blocks(ROOT / "README.md", "text") if "CORRECTNESS" in block)
    assert shown in (DOCS / "demo.md").read_text()


def test_the_readme_names_every_page() -> None:
    text = (ROOT / "README.md").read_text()
    assert [page.name for page in PAGES[1:] if f"(src/llm_errors/docs/{page.name})" not in text] == []


def test_twenty_symptoms_each_with_a_command_that_exists() -> None:
    text = (DOCS / "troubleshooting.md").read_text()
    rows = re.findall(r"^\| (\d+)\. [^|]+ \| `(llm-errors [^`]+)`[^|]*\| [^|]+ \|$", text, re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 21))
    for _, command in rows:
        assert_parses(command)


def unused_port() -> int:
    """A port below those that systems give to outgoing connections, so that no other test takes it before it is used."""
    for port in random.sample(range(20_000, 32_000), 100):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("of a hundred ports none is free")


def test_the_exports_of_direct_scraping_serve_the_failures_of_an_application(tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.exporter.prometheus")
    openai = pytest.importorskip("openai")
    section = (DOCS / "quickstarts.md").read_text().split("\n## Direct Prometheus scraping\n")[1].split("\n## ")[0]
    (exports,) = re.findall(r"^\$ export (.*)$", section, re.MULTILINE)
    script = tmp_path / "app.py"
    script.write_text(
        "import os, urllib.request\n"
        f"import {openai.__name__} as sdk\n"
        "try:\n"
        "    sdk.OpenAI(base_url='http://127.0.0.1:1', api_key='k', max_retries=0)"
        ".chat.completions.create(model='m', messages=[])\n"
        "except sdk.APIConnectionError:\n"
        "    pass\n"
        "port = os.environ['OTEL_EXPORTER_PROMETHEUS_PORT']\n"
        "print(urllib.request.urlopen(f'http://localhost:{port}/metrics').read().decode())\n"
    )
    settings = dict(pair.split("=") for pair in exports.split())
    done = subprocess.run(
        [str(Path(sys.executable).parent / "opentelemetry-instrument"), sys.executable, str(script)],
        env={**os.environ, **settings, "OTEL_EXPORTER_PROMETHEUS_PORT": str(unused_port())},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 'llm_error_class="TRANSPORT"' in done.stdout, done.stderr


def test_the_compatibility_page_names_the_versions_that_the_package_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pythons = [c.rpartition(" ")[2] for c in project["classifiers"] if re.search(r":: 3\.\d+$", c)]
    (least,) = [d.partition(">=")[2] for d in project["dependencies"] if d.startswith("opentelemetry-api")]
    first = (DOCS / "compatibility.md").read_text().split("\n\n")[1]
    assert first.startswith(f"Python {pythons[0]} to {pythons[-1]}; OpenTelemetry API and SDK {least} or newer")


def test_the_compatibility_page_lists_the_other_instrumentations_that_are_tested() -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    tested = [g for g in groups if g.startswith(("peers", "frameworks", "adk", "litellm")) and g != "litellm-oldest"]
    pinned = {line for name in tested for line in groups[name] if "==" in line}
    section = (DOCS / "compatibility.md").read_text().split("| package | version |")[1].split("\n\n")[0]
    listed = re.findall(r"^\| `([^`]+)` \| (\S+) \|$", section, re.MULTILINE)
    assert sorted(map("==".join, listed)) == sorted(pinned)
