"""What every quickstart needs: a provider that misbehaves, a backend that counts, and the environment that a page says."""

import os
from collections.abc import Callable, Iterator

import pytest
from backend import Backend

from llm_errors.testing import Provider, Reply, Request, replies

MODEL = "gpt-5-mini"


def answer(request: Request) -> Reply:
    """Every call fails: the key is wrong."""
    return replies.openai_error(401, "invalid_api_key", "invalid_request_error", "Incorrect API key")


@pytest.fixture
def backend() -> Iterator[Backend]:
    with Backend() as running:
        yield running


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider(answer) as running:
        yield running


@pytest.fixture
def environment(backend: Backend, provider: Provider) -> Callable[..., dict[str, str]]:
    """Variables of a process that calls the provider and reports to the backend, and those given."""

    def variables(**given: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("OTEL_", "LLM_ERRORS_"))}
        own = {
            "OPENAI_BASE_URL": f"{provider.url}/v1",
            "OPENAI_API_KEY": "sk-nothing",
            "OTEL_EXPORTER_OTLP_ENDPOINT": backend.url,
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "PYTHONUNBUFFERED": "1",
        }
        return {**kept, **own, **given}

    return variables
