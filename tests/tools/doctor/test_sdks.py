"""What the doctor says of SDKs, and that it leaves the process as it found it."""

import pytest

from llm_errors.tools.doctor import sdks
from llm_errors.tools.doctor.finding import Grade

openai = pytest.importorskip("openai")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
"""SDKs use names of `ast` that Python 3.13 warns of."""


def test_an_installed_sdk_is_found_with_its_version():
    assert any(f.grade is Grade.GOOD and f.what.startswith(f"openai {openai.__version__}") for f in sdks.examine())


def test_no_patch_point_of_an_installed_sdk_has_moved():
    assert [f.what for f in sdks.examine() if f.grade is Grade.FAULT] == []


def test_the_process_is_left_as_it_was():
    list(sdks.examine())
    assert "request" not in vars(openai.OpenAI)


def test_a_moved_patch_point_is_a_fault(monkeypatch):
    monkeypatch.delattr("openai._base_client.SyncAPIClient._sleep_for_retry")
    (found,) = [f for f in sdks.examine() if f.grade is Grade.FAULT]
    assert "_sleep_for_retry" in found.what


def test_an_sdk_whose_import_raises_is_not_the_end_of_the_examination(monkeypatch):
    def broken(name):
        raise TypeError("an incompatible version of a package")

    monkeypatch.setattr(sdks, "ALL", [a for a in sdks.ALL if a.row.distribution == "openai"])
    monkeypatch.setattr(sdks, "import_module", broken)
    assert [f.what for f in sdks.examine() if f.what.startswith("openai ")]
