"""What is uploaded to a package index: complete, lean, and shown there as in the repository."""

import importlib.util
import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from llm_errors import __version__

ROOT = Path(__file__).parent.parent
TOOLS = ("hatchling", "hatch_fancy_pypi_readme", "twine")
pytestmark = pytest.mark.skipif(
    any(importlib.util.find_spec(tool) is None for tool in TOOLS), reason="the build tools are in the group 'check'"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist, and the wheel made from nothing but the unpacked sdist."""
    where = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-d", str(where)]
    subprocess.run([*build, "-t", "sdist"], cwd=ROOT, check=True, capture_output=True)
    (sdist,) = where.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(where / "unpacked", filter="data")
    (unpacked,) = (where / "unpacked").iterdir()
    subprocess.run([*build, "-t", "wheel"], cwd=unpacked, check=True, capture_output=True)
    (wheel,) = where.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def files(built: tuple[Path, Path]) -> set[str]:
    with tarfile.open(built[0]) as archive:
        return {name.partition("/")[2] for name in archive.getnames()}


def test_the_index_accepts_both_without_a_warning(built):
    done = subprocess.run(
        [sys.executable, "-m", "twine", "check", "--strict", *map(str, built)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_every_file_that_make_runs_is_in_the_sdist(files):
    named = set(re.findall(r"(?:bash|include) ([\w./-]+)", (ROOT / "Makefile").read_text()))
    named |= set(re.findall(r"bash ([\w./-]+)", (ROOT / "tests/environments/run").read_text()))
    assert {"tests/environments/create", "tests/environments/run"} <= named
    assert named - files == set()


def test_the_sdist_is_lean(files):
    odd = {
        f for f in files
        if f.startswith((".ci", ".github", "dashboards/screenshots")) or "__pycache__" in f or f.endswith((".png", ".pyc"))
    }  # fmt: skip
    assert odd == set()


def test_the_wheel_holds_the_package_with_type_marker_and_pages_and_no_tests(built):
    names = zipfile.ZipFile(built[1]).namelist()
    assert "llm_errors/py.typed" in names
    pages = {f"llm_errors/docs/{path.name}" for path in (ROOT / "src/llm_errors/docs").glob("*.md")}
    assert pages
    assert pages <= set(names)
    assert {
        f"llm_errors/monitoring/collector_files/{name}.yaml" for name in ("agent", "gateway", "short-lived")
    } <= set(names)
    assert {n.split("/")[0] for n in names} == {"llm_errors", f"llm_errors-{__version__}.dist-info"}


def test_every_link_and_image_of_the_page_is_a_whole_address(built):
    metadata = zipfile.ZipFile(built[1]).read(f"llm_errors-{__version__}.dist-info/METADATA")
    page = message_from_bytes(metadata).get_payload()
    links = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", page, flags=re.DOTALL))
    assert [link for link in links if not link.startswith(("https://", "http://", "#"))] == []


def test_the_changelog_tells_of_this_version():
    assert re.search(
        rf"^## \[{re.escape(__version__)}\] - \d{{4}}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text(), re.M
    )
