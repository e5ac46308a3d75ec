"""Clients that are closed after the test."""

import ssl
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.promises.wire import Clients


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A warning of google-genai's about itself is not ours to fail for."""
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(
                pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession:DeprecationWarning")
            )


@pytest.fixture(scope="session", autouse=True)
def _one_set_of_certificates() -> Iterator[None]:
    """Every client loads the system's certificates, which takes longer than a test; here none is ever used."""
    context = ssl.create_default_context()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl, "create_default_context", lambda *args, **kwargs: context)
        yield


@pytest.fixture
def connect() -> Iterator[Clients]:
    """Make a sync client: `connect(api, url)`."""
    clients = Clients()
    yield clients
    clients.close()


@pytest.fixture
async def aconnect() -> AsyncIterator[Clients]:
    """Make an async client: `aconnect(api, url, True)`."""
    clients = Clients()
    yield clients
    await clients.aclose()


@pytest.fixture(autouse=True)
def _no_call_outlives_a_test():
    """Tests that break our own leaving of a call leave it in the context: the next test must not find it there."""
    from llm_errors.instrument.invocation import ACTIVE

    yield
    ACTIVE.set(None)
