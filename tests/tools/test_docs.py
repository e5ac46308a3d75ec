"""The command `llm-errors docs`."""

from pathlib import Path

import pytest

from llm_errors.tools import cli, docs

PAGES = sorted(path.stem for path in docs.PAGES.glob("*.md"))


def test_without_a_page_every_page_is_listed_with_its_title(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["docs"]) == 0
    listed = capsys.readouterr().out.split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in listed] == PAGES
    assert all(len(line.split()) > 1 for line in listed)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_printed_without_the_marks_of_generated_blocks(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["docs", page]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("# ")
    assert "<!--" not in shown


def test_a_page_may_be_named_as_its_file_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["docs", "Recovery.md"]) == 0
    assert capsys.readouterr().out.startswith("# Recovery")


def test_a_misspelt_page_is_guessed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["docs", "recvery"]) == 2
    assert "did you mean recovery?" in capsys.readouterr().err


def test_an_unknown_page_lists_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["docs", "zzz"]) == 2
    assert ", ".join(PAGES) in capsys.readouterr().err


def test_every_page_begins_with_its_title() -> None:
    assert all(Path(docs.PAGES / f"{page}.md").read_text().startswith("# ") for page in PAGES)
