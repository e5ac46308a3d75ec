"""Completeness: every exception and every reason that the installed botocore knows is decided by a row, not by a fallback.

A new release with a new one breaks a test of this module by its name.
"""

import inspect

import pytest

pytest.importorskip("botocore", reason="botocore is not installed")

import botocore.exceptions
import botocore.session
from botocore.exceptions import ClientError, EventStreamError

from llm_errors import classify
from llm_errors.classify import decide
from llm_errors.extract import bedrock, results
from llm_errors.extract.bedrock_agents import INTERVENED
from llm_errors.instrument.adapters.aws_operations import APIS

SERVICES = ("bedrock-runtime", "bedrock-agent-runtime", "sagemaker-runtime")
MODELS = {name: botocore.session.Session().get_service_model(name) for name in SERVICES}
MODELLED = [
    (service, name)
    for service, model in MODELS.items()
    for name in model.shape_names
    if getattr(model.shape_for(name), "metadata", {}).get("exception")
]
BY_WHAT_THEY_HOLD = {
    "BotoCoreError": "the root of botocore's own",
    "ClientError": "the root of what services answer: the code decides",
    "EventStreamError": "the same in an event stream",
    "WaiterError": "of polling, which is no model call",
    "CapacityNotAvailableError": "is caught by botocore itself",
}
OUR_OWN = [
    (name, cls)
    for name, cls in vars(botocore.exceptions).items()
    if inspect.isclass(cls)
    and issubclass(cls, Exception)
    and not issubclass(cls, Warning)
    and cls.__module__ == "botocore.exceptions"
]
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
def test_every_modelled_exception_is_decided_by_its_code(service, name):
    verdict = classify(ClientError(_answered(name), "Converse"))
    assert (verdict.evidence, ".aws." in verdict.rule) == ("code", True), verdict


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


@pytest.mark.parametrize("reason", MODELS["bedrock-runtime"].shape_for("StopReason").enum)
def test_every_stop_reason_of_converse(reason):
    message = {"role": "assistant", "content": [{"text": "hi"}]}
    suspicion = results.CONVERSE.whole({"output": {"message": message}, "stopReason": reason}).suspicion
    verdict = suspicion and decide(suspicion)
    if reason in bedrock.NATURAL:
        assert verdict is None
    else:
        assert (verdict.evidence, verdict.rule.startswith("bedrock.finish.")) == ("finish_reason", True), verdict


@pytest.mark.parametrize("service", SERVICES[:2])
def test_every_action_of_a_guardrail(service):
    model = MODELS[service]
    shapes = [name for name in model.shape_names if name in ("GuardrailAction", "GuadrailAction")]
    assert shapes
    for name in shapes:
        assert set(model.shape_for(name).enum) <= {"NONE", *INTERVENED}, name


def test_a_flow_ends_for_reasons_that_are_natural():
    assert set(MODELS["bedrock-agent-runtime"].shape_for("FlowCompletionReason").enum) <= {"SUCCESS", "INPUT_REQUIRED"}


@pytest.mark.parametrize(("name", "cls"), OUR_OWN, ids=[name for name, _ in OUR_OWN])
def test_every_exception_that_botocore_raises_itself(name, cls):
    verdict = classify(cls.__new__(cls))
    named = verdict is not None and verdict.error_class != "UNKNOWN"
    assert named != (name in BY_WHAT_THEY_HOLD), verdict


def test_at_most_one_in_twenty_is_decided_by_what_it_holds():
    assert len(BY_WHAT_THEY_HOLD) <= len(OUR_OWN) / 20 + 1


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
