"""The example in the documentation of `llm_errors.testing` runs, and prints what it says it prints."""

import re

import pytest

pytest.importorskip("openai")

from llm_errors import testing


def test_the_example_prints_what_its_comments_say(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", testing.__doc__, re.S)
    exec(compile(example, "example", "exec"), {})
    promised = re.findall(r"print\(.*\)  # (.+)$", example, re.M)
    assert len(promised) == 5
    assert capsys.readouterr().out.splitlines() == promised


def test_everything_public_is_documented():
    for name in testing.__all__:
        assert getattr(testing, name).__doc__, name
