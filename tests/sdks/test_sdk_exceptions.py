"""What a Stainless client makes of each HTTP status is classified, and each error code that anthropic has a class for.

(That every exception and every finish reason is decided is a test of tests/completeness.)
"""

import importlib

import pytest

from llm_errors import classify, providers
from llm_errors.classify import decide
from llm_errors.evidence import Evidence

SDKS = {
    row.name: (row.package, row.clients[0].name)
    for row in providers.SDKS
    if row.family == "stainless" and row.dialect != "google"
}
STATUSES = (400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 501, 502, 503, 504, 520, 529)
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def _client(sdk):
    module, name = SDKS[sdk]
    more = {"warm_tcp_connection": False} if sdk == "cerebras" else {}
    return getattr(pytest.importorskip(module), name)(api_key="k", base_url="http://127.0.0.1:9", **more)


def _response(client, status):
    library = importlib.import_module(type(client._client).__mro__[-2].__module__.split(".")[0])
    request = library.Request("POST", "http://127.0.0.1:9/v1/chat")
    return library.Response(status, request=request, json={"error": {"message": "m"}})


@pytest.mark.parametrize("sdk", SDKS)
def test_every_status_that_the_client_turns_into_an_exception(sdk):
    with _client(sdk) as client:
        for status in STATUSES:
            raised = client._make_status_error("m", body={"message": "m"}, response=_response(client, status))
            assert classify(raised).error_class != "UNKNOWN", (status, type(raised))


def test_every_error_code_that_anthropic_has_a_class_for():
    classes = pytest.importorskip("anthropic._error_classes", reason="this major of anthropic has no such table")
    unknown = []
    for status, code in classes.ERROR_CLASSES:
        codes, facts = (code,) if code else (), frozenset(("error_object",))
        if decide(Evidence(dialect="anthropic", status=status, codes=codes, facts=facts)).error_class == "UNKNOWN":
            unknown.append((status, code))
    # the caller itself went away; and statuses that the taxonomy leaves to the weekly review
    assert {status for status, _ in unknown} <= {412, 431, 499}
    assert all(code is None for _, code in unknown)
