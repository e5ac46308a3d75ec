"""The example in the documentation of `llm_errors.testing` runs, and prints what it says it prints."""

import inspect
import re

import pytest

pytest.importorskip("openai")

from llm_errors import testing
from llm_errors.tools import docs


def test_the_example_prints_what_its_comments_say(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", testing.__doc__, re.S)
    exec(compile(example, "example", "exec"), {})
    promised = re.findall(r"print\(.*\)  # (.+)$", example, re.M)
    assert len(promised) == 5
    assert capsys.readouterr().out.splitlines() == promised


def test_everything_public_is_documented():
    for name in testing.__all__:
        assert getattr(testing, name).__doc__, name


def test_every_function_that_writes_replies_is_named():
    functions = {n for n, f in vars(testing.replies).items() if inspect.isfunction(f) and not n.startswith("_")}
    reference = (docs.PAGES / "reference.md").read_text()
    assert {name for name in functions if f"`{name}`" not in testing.__doc__ or f"`{name}`" not in reference} == set()
