"""Renders `tested.json` into the compatibility page."""

from pathlib import Path
from typing import Any

from llm_errors import providers
from llm_errors.monitoring.markdown import table
from tests.tested import load

PAGE = Path(__file__).parents[2] / "src/llm_errors/docs/compatibility.md"
BEGIN, END = "<!-- tested -->\n", "<!-- /tested -->\n"
CALLS = ("plain", "stream", "async plain", "async stream")
FAILURES = ("thrown", "in-band", "mid-stream", "hidden retries")


def rendered() -> str:
    """The table: a row per SDK, with what any environment has shown of it."""
    found: dict[str, list[dict[str, Any]]] = {}
    for known in load().values():
        for distribution, shown in known.items():
            found.setdefault(distribution, []).append(shown)
    order = list(dict.fromkeys(row.distribution for row in providers.OBSERVED))
    head = ("SDK", "versions tested", "providers", "dialects", *CALLS, *FAILURES)
    rows = (_row(name, found[name]) for name in sorted(found, key=order.index))
    return table(head, rows)


def _row(distribution: str, found: list[dict[str, Any]]) -> tuple[str, ...]:
    shown = {trait for one in found for trait in one["shown"]}
    versions = sorted({one["version"] for one in found}, key=_number)
    return (
        f"`{distribution}`",
        ", ".join(versions),
        _all(found, "providers"),
        _all(found, "dialects"),
        *("yes" if trait in shown else "" for trait in (*CALLS, *FAILURES)),
    )


def _all(found: list[dict[str, Any]], name: str) -> str:
    return ", ".join(f"`{value}`" for value in sorted({value for one in found for value in one[name]} - {""}))


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal())


def newest_tested(distribution: str) -> str:
    """The newest version that was tested; empty if none was."""
    versions = {known[distribution]["version"] for known in load().values() if distribution in known}
    return max(map(str, versions), key=_number, default="")


def page() -> str:
    """The compatibility page with the table in it."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return before + BEGIN + rendered().rstrip("\n") + "\n" + END + rest.partition(END)[2]


def main() -> None:
    """Write the table into the page."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
