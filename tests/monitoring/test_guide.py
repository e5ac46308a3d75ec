"""What `dashboards/README.md` says to run works, and what it links to exists."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from artifact_tools import REPOSITORY, STACK, tool

GUIDE = (REPOSITORY / "dashboards/README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^```bash\n(.*?)```", GUIDE, re.DOTALL | re.MULTILINE)
LINKS = re.findall(r"\]\((?!https?:)([^)]+)\)", GUIDE)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda text: text.split("\n")[0][:40])
def test_every_command_works_in_the_folder(command: str, tmp_path: Path) -> None:
    folder = shutil.copytree(REPOSITORY / "dashboards", tmp_path / "dashboards", ignore=shutil.ignore_patterns("*.png"))
    places = [str(Path(program).parent) for program in (sys.executable, tool("promtool", STACK), tool("amtool", STACK))]
    path = os.pathsep.join([*places, os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euc", command], cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr + done.stdout


@pytest.mark.parametrize("link", sorted(set(LINKS)))
def test_every_link_leads_somewhere(link: str) -> None:
    path, _, heading = link.partition("#")
    folder = REPOSITORY / "dashboards"
    assert (folder / path).exists() or list(folder.glob(path))
    if heading:
        titles = re.findall(r"^#+ (.*)$", GUIDE, re.MULTILINE)
        assert heading in {title.lower().replace(" ", "-") for title in titles}


def test_every_generated_file_is_listed() -> None:
    folder = REPOSITORY / "dashboards"
    files = [path.relative_to(folder) for path in folder.rglob("*.yml")]
    assert [str(file) for file in files if not {str(file), str(file.parent)} & set(LINKS)] == []
