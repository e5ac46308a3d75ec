"""Adapters are loaded when the import of their package begins, in time for every module of it."""

import subprocess
import sys

import pytest

from llm_errors import safety
from llm_errors.instrument.imports import ExpectedImports

STARTED = "import sys\nfrom llm_errors import LLMErrorsInstrumentor\none = LLMErrorsInstrumentor()\none.instrument()\n"


def output_of(code: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", STARTED + code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.split()


def test_an_sdk_that_is_imported_later_is_patched():
    pytest.importorskip("openai")
    code = "import openai\nprint(one.patcher.found['openai._client:OpenAI.request'])"
    assert output_of(code) == ["patched"]


def test_an_sdk_that_was_imported_before_is_patched():
    pytest.importorskip("openai")
    code = (
        "one.uninstrument()\nimport openai\none.instrument()\nprint(one.patcher.found['openai._client:OpenAI.request'])"
    )
    assert output_of(code) == ["patched"]


def test_an_sdk_that_is_switched_off_is_not_patched():
    pytest.importorskip("openai")
    code = (
        "one.uninstrument()\none.instrument(disabled_sdks='openai')\nimport openai\n"
        "print(*(name for name in one.patcher.found if name.startswith('openai.')))"
    )
    assert output_of(code) == []


def test_an_adapter_whose_sdk_begins_with_several_imports_is_installed_once():
    pytest.importorskip("openai")
    code = (
        "import openai\nfrom llm_errors.instrument.adapters import ALL\npatches = len(one.patcher._patches)\n"
        "for adapter in ALL:\n    if adapter.row.name == 'openai':\n        one.patcher.install(adapter)\n"
        "print(patches > 0, len(one.patcher._patches) - patches)"
    )
    assert output_of(code) == ["True", "0"]


def test_a_namespace_that_is_made_at_every_start_loads_no_adapter():
    """Distributions of Google's put `google.cloud` in `sys.modules` whenever Python starts."""
    code = (
        "one.uninstrument()\nsys.modules.setdefault('google.cloud', type(sys)('google.cloud'))\none.instrument()\n"
        "print(*one.patcher.found, *(name for name in sys.modules if name == 'llm_errors.instrument.adapters'))"
    )
    assert output_of(code) == []


def test_nothing_is_left_in_the_import_system():
    before = list(sys.meta_path)
    expected = ExpectedImports(["nowhere"], print)
    assert sys.meta_path != before
    expected.stop()
    expected.stop()
    assert sys.meta_path == before


def test_a_package_is_announced_once_before_it_runs(tmp_path, monkeypatch):
    (tmp_path / "announced.py").write_text("import sys\nknown = 'announced' in sys.modules['told_first'].names\n")
    told = type(sys)("told_first")
    told.names = []
    monkeypatch.setitem(sys.modules, "told_first", told)
    monkeypatch.syspath_prepend(tmp_path)
    expected = ExpectedImports(["announced", "told_first"], told.names.append)
    try:
        import announced
    finally:
        expected.stop()
        sys.modules.pop("announced", None)
    assert announced.known
    assert told.names == ["told_first", "announced"]


def test_an_error_while_adapters_are_loaded_does_not_reach_the_import():
    def fails(package: str) -> None:
        raise RuntimeError(package)

    safety.configure(strict=False, count=None)
    expected = ExpectedImports(["nowhere_to_be_found"], fails)
    try:
        with pytest.raises(ModuleNotFoundError):
            import nowhere_to_be_found  # noqa: F401
    finally:
        expected.stop()
