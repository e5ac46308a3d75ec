"""CONTRIBUTING.md is true: its recipes work when somebody follows them literally, and its map of rooms is that of the tree."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
STEP = re.compile(r"^\d\. ", re.MULTILINE)
BLOCK = re.compile(r"^   (?P<before>[^\n]+)\n\n   ```(?P<kind>\w+)\n(?P<body>.*?)^   ```$", re.MULTILINE | re.DOTALL)
PLACE = re.compile(r"(?P<how>In|At the end of|Create) `(?P<path>[^`]+)`(?:, below `(?P<line>[^`]+)`)?:$", re.MULTILINE)

NIMBUS = """
import json
import urllib.error
import urllib.request


class APIError(Exception):
    def __init__(self, status, body):
        super().__init__(str(status))
        self.status_code, self.body = status, body


class Client:
    def __init__(self, base_url):
        self.base_url = base_url

    def ask(self, *, model, prompt):
        data = json.dumps({"model": model, "prompt": prompt}).encode()
        try:
            with urllib.request.urlopen(urllib.request.Request(self.base_url + "/ask", data)) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                raise APIError(error.code, json.load(error)) from None

    def close(self):
        pass
"""


def recipe(heading: str) -> list[str]:
    """The steps under a heading."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return STEP.split(section)[1:]


def edit(tree: Path, before: str, body: str) -> None:
    """Do what the sentence above a block asks for."""
    place = PLACE.search(before)
    assert place, f"a block without a place: {before}"
    path, line = tree / place["path"], place["line"]
    if place["how"] == "Create":
        assert not path.exists()
        path.write_text(body)
        return
    old = path.read_text()
    if line is None:
        path.write_text(old + body)
        return
    assert old.count(f"\n{line}\n") == 1, f"{place['path']} has not exactly one line {line!r}"
    path.write_text(old.replace(f"\n{line}\n", f"\n{line}\n{body}"))


def run(tree: Path, command: str) -> subprocess.CompletedProcess[str]:
    """One command of the page, with the interpreter of this test and what is installed beside the copy."""
    words = command.split()
    assert words[0] == "python"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(tree / "src"), str(tree / "site")))}
    return subprocess.run([sys.executable, *words[1:]], cwd=tree, env=environment, capture_output=True, text=True)


def follow(tree: Path, heading: str) -> None:
    """Follow a recipe: apply its blocks and run its commands, in the order of the page."""
    commands = 0
    for step in recipe(heading):
        # The first sentence of a step stands on the line of its number, the others are indented.
        for block in BLOCK.finditer(f"   {step}"):
            body = "".join(f"{line[3:]}\n" for line in block["body"].splitlines())
            if block["kind"] != "sh":
                edit(tree, block["before"], body)
                continue
            for command in body.splitlines():
                done = run(tree, command)
                expected = 1 if "It fails" in step else 0
                assert done.returncode == expected, f"{command}\n{done.stdout[-4000:]}\n{done.stderr[-1000:]}"
                assert ("decided by" in done.stdout) == bool(expected)
                commands += 1
    assert commands


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what the recipes edit, and a folder for made-up SDKs."""
    skipped = shutil.ignore_patterns("__pycache__", "cassettes", "stack", "monitoring", "promises")
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=skipped if name == "tests" else None)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "site").mkdir()
    return tmp_path


def rename_sdk(old: str, new: str, to: Path) -> None:
    """A made-up Stainless SDK: a copy of an installed one under another name."""
    found = find_spec(old)
    assert found is not None
    assert found.origin is not None
    shutil.copytree(Path(found.origin).parent, to / new, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (to / new).rglob("*.py"):
        text = path.read_text()
        path.write_text(text.replace(old, new).replace(old.title(), new.title()).replace(old.upper(), new.upper()))


def test_the_recipe_for_a_rule_works(tree: Path) -> None:
    follow(tree, "Add a rule")


def test_the_recipe_for_an_sdk_of_a_known_family_works(tree: Path) -> None:
    pytest.importorskip("fireworks")
    rename_sdk("fireworks", "acme", tree / "site")
    follow(tree, "Add an SDK of a known family")


def test_the_recipe_for_a_family_works(tree: Path) -> None:
    (tree / "site" / "nimbus.py").write_text(NIMBUS)
    follow(tree, "Add a family")


def rooms_of_the_tree() -> set[str]:
    inside = (ROOT / "src/llm_errors").iterdir()
    found = {
        f"{p.name}/" if p.is_dir() else p.name for p in inside if p.suffix == ".py" or (p / "__init__.py").exists()
    }
    return found - {"__init__.py"}


def test_the_map_of_rooms_names_every_room_and_no_other() -> None:
    table = PAGE.split("| room |")[1].split("\n\n")[0]
    named = {
        name for row in table.splitlines() for name in re.findall(r"`([^`]+)`", row.split("|")[1] if "|" in row else "")
    }
    assert named == rooms_of_the_tree()


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_every_path_of_the_source_that_a_page_names_exists(page: str) -> None:
    text = (ROOT / page).read_text()
    made_up = {match["path"] for match in PLACE.finditer(text) if match["how"] == "Create"}
    named = {path.rstrip("/") for path in re.findall(r"\b(?:src|tests)/[\w./-]*\w/?", text)} - made_up
    assert {path for path in named if not (ROOT / path).exists()} == set()
