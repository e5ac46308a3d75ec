"""Checks the generated files with promtool and amtool before anything is written, if these programs are on the PATH.

If they are not installed, only the checks in `arguments` apply.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from llm_errors.monitoring.arguments import OptionError

CHECKS: Final = {
    "prometheus/llm-errors.rules.yml": ("promtool", "check", "rules"),
    "collector/llm-pipeline.rules.yml": ("promtool", "check", "rules"),
    "alertmanager.yml": ("amtool", "check-config"),
}
"""File -> the command that checks it."""
_SECONDS: Final = 60


def asked(texts: Mapping[str, str]) -> list[str]:
    """Run the installed programs and return their names. Raises `OptionError` with the error if a program refuses a file."""
    programs = []
    for path, command in CHECKS.items():
        program = shutil.which(command[0])
        if program:
            _ask(program, command, path, texts[path])
            programs.append(command[0])
    return list(dict.fromkeys(programs))


def _ask(program: str, command: tuple[str, ...], path: str, text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, Path(path).name)
        file.write_text(text, encoding="utf-8", newline="\n")
        done = subprocess.run(
            [program, *command[1:], str(file)], capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    if done.returncode:
        output = " ".join((done.stderr + done.stdout).split()).replace(f"{folder}/", "")
        raise OptionError(f"{command[0]} refuses {path}: {output[:500]}")
