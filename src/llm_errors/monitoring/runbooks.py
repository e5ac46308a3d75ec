"""Copies the runbooks for a generated set of files, and adapts the labels and series in their queries to the options.

The originals are written by hand. They are in `dashboards/runbooks` of a checkout, and are also part of the package.
"""

import re
from pathlib import Path

from llm_errors.monitoring import rules
from llm_errors.monitoring.marker import MARKER
from llm_errors.monitoring.options import Options

_PACKAGE = Path(__file__).parent
_CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)


def folder() -> Path:
    """The folder with the originals, in the installed package or in a checkout."""
    packaged = _PACKAGE / "runbook_pages"
    return packaged if packaged.is_dir() else _PACKAGE.parents[2] / "dashboards/runbooks"


def tailored(source: Path, options: Options) -> dict[str, str]:
    """Path below the output folder -> the text of the runbook for these options. Raises `OSError`."""
    names = _series(options)
    return {
        f"runbooks/{path.name}": _CODE.sub(lambda code: _renamed(code[0], names, options), path.read_text("utf-8"))
        + f"\n<!-- {MARKER}. -->\n"
        for path in sorted(source.glob("*.md"))
    }


def _series(options: Options) -> dict[str, str]:
    """Name of a recorded series in the shipped rules -> its name with these options."""
    shipped, own = (
        [rule["record"] for group in rules.plan(each) for rule in group.records] for each in (Options(), options)
    )
    return dict(zip(shipped, own, strict=True))


def _renamed(code: str, names: dict[str, str], options: Options) -> str:
    code = re.sub(r"\w+(?::\w+)+", lambda name: names.get(name[0], name[0]), code)
    return re.sub(r"(?<![:\w])job(?![:\w])", options.service_label, code)
