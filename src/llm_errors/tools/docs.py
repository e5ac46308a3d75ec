"""Runs `llm-errors docs`: prints a page of the documentation. The pages are part of the package."""

import argparse
import difflib
import sys
from pathlib import Path

PAGES = Path(__file__).parent.parent / "docs"


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command's arguments."""
    parser = subparsers.add_parser(
        "docs",
        help="show a page of the documentation",
        description="Print a page of the documentation as Markdown. Without PAGE, list the pages. The pages belong to the"
        " installed version and need no network.",
    )
    parser.add_argument("page", metavar="PAGE", nargs="?", help="the page to print")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the page or the list of pages. The exit code is 2 if there is no such page."""
    pages = {path.stem: path for path in sorted(PAGES.glob("*.md"))}
    if args.page is None:
        width = max(map(len, pages))
        for name, path in pages.items():
            print(f"{name:<{width}}  {title(path)}")
        print("\nllm-errors docs PAGE prints one of them.")
        return 0
    wanted = args.page.lower().removesuffix(".md")
    if wanted not in pages:
        near = difflib.get_close_matches(wanted, pages, n=1)
        hint = f"did you mean {near[0]}?" if near else f"pages: {', '.join(pages)}"
        print(f"llm-errors docs: no page {args.page!r}; {hint}", file=sys.stderr)
        return 2
    print(readable(pages[wanted].read_text(encoding="utf-8")), end="")
    return 0


def title(path: Path) -> str:
    """The first heading of a page."""
    first, *_ = path.read_text(encoding="utf-8").splitlines()
    return first.removeprefix("# ")


def readable(text: str) -> str:
    """The text of a page without the comments that mark generated blocks."""
    return "".join(line for line in text.splitlines(keepends=True) if not line.startswith("<!-- "))
