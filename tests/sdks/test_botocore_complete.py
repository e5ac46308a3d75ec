"""The service models of the installed botocore: spellings and statuses of its exceptions, and which operations are calls.

(That every exception and every reason is decided is a test of tests/completeness.)
"""

import pytest

pytest.importorskip("botocore", reason="botocore is not installed")

from botocore.exceptions import ClientError, EventStreamError

from llm_errors import classify
from llm_errors.instrument.adapters.aws_operations import APIS
from tests.completeness.service_models import SERVICES, modelled_exceptions, models

MODELS = models()
MODELLED = [(service, name) for service, model in MODELS.items() for name in modelled_exceptions(model)]
NOT_OBSERVED = {
    "CountTokens": "counts and makes nothing",
    "GetAsyncInvoke": "tells of a job",
    "ListAsyncInvokes": "tells of jobs",
    "InvokeModelWithBidirectionalStream": "needs HTTP/2, which botocore does not speak: it offers no method for it",
}


def _answered(code, status=None):
    metadata = {} if status is None else {"HTTPStatusCode": status}
    return {"Error": {"Code": code, "Message": "m"}, "ResponseMetadata": metadata}


@pytest.mark.parametrize(("service", "name"), MODELLED)
def test_an_exception_of_an_event_stream_means_the_same_in_lower_camel_case(service, name):
    streamed = classify(EventStreamError(_answered(name[0].lower() + name[1:]), "ConverseStream"))
    whole = classify(ClientError(_answered(name), "Converse"))
    assert (streamed.error_class, streamed.reason) == (whole.error_class, whole.reason)


@pytest.mark.parametrize(("service", "name"), MODELLED)
def test_the_status_that_the_model_gives_an_exception_changes_nothing(service, name):
    status = MODELS[service].shape_for(name).metadata.get("error", {}).get("httpStatusCode")
    verdict = classify(ClientError(_answered(name, status), "Converse"))
    assert verdict.error_class == classify(ClientError(_answered(name), "Converse")).error_class


@pytest.mark.parametrize("service", [SERVICES[0], SERVICES[2]])
def test_every_operation_of_a_runtime_is_a_call_or_is_named_as_none(service):
    named = {*NOT_OBSERVED, *(name for name, api in APIS.items() if api.service == service)}
    assert set(MODELS[service].operation_names) <= named


@pytest.mark.parametrize(("name", "api"), APIS.items(), ids=list(APIS))
def test_an_operation_of_the_table_is_as_the_service_model_has_it(name, api):
    model = MODELS[api.service]
    if name not in model.operation_names:
        pytest.skip("only a newer major of the SDK has it")
    operation = model.operation_model(name)
    answered = operation.output_shape.members
    assert api.stream == operation.has_event_stream_output
    assert not api.holds or api.holds in answered
    assert not api.names or api.names == "modelArn" or api.names in operation.input_shape.members
