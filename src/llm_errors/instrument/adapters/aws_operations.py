"""The operations of AWS services that are model calls, each with the parameter for the model and the reader of the answer."""

from functools import partial
from typing import Any, NamedTuple

from llm_errors.extract import results
from llm_errors.extract.answer import Reader
from llm_errors.extract.bedrock_agents import AcceptedReader, EventsReader, PolicyReader, TextReader
from llm_errors.extract.bedrock_invoke import InvokeReader
from llm_errors.extract.fields import field, text


class Api(NamedTuple):
    """An operation that is a model call."""

    service: str
    operation: str
    """`gen_ai.operation.name`."""
    reader: Reader
    names: str
    """The parameter that contains the model, or a substitute such as an agent."""
    holds: str = ""
    """The field of the answer with an event stream or a body, if there is one."""
    stream: bool = False
    provider: str = "aws.bedrock"

    def model(self, given: Any) -> str:
        """The model in the parameters of a call. Only the part of an ARN after the last slash is returned."""
        if self.names == "modelArn":
            how = field(given, "retrieveAndGenerateConfiguration")
            given = field(how, "knowledgeBaseConfiguration", "externalSourcesConfiguration")
        return text(field(given, self.names)).rpartition("/")[2][:256] if self.names else ""

    def reader_for(self, given: Any) -> Reader:
        """The reader for the answer. It depends on whether a guardrail checks a prompt or an output."""
        return _PROMPT if self.reader is _OUTPUT and field(given, "source") == "INPUT" else self.reader


_AGENT = EventsReader(("chunk", "returnControl", "files"))
_FLOW = EventsReader(("flowOutputEvent", "flowMultiTurnInputRequestEvent"), "flowCompletionEvent")
_ACCEPTED, _TEXT, _INVOKE = AcceptedReader(), TextReader(), InvokeReader()
_PROMPT, _OUTPUT = PolicyReader("INPUT"), PolicyReader()

_bedrock = partial(Api, "bedrock-runtime")
_agents = partial(Api, "bedrock-agent-runtime")
_sagemaker = partial(Api, "sagemaker-runtime", "generate_content", provider="aws.sagemaker")

APIS: dict[str, Api] = {
    "Converse": _bedrock("chat", results.CONVERSE, "modelId"),
    "ConverseStream": _bedrock("chat", results.CONVERSE, "modelId", "stream", True),
    "InvokeModel": _bedrock("generate_content", _INVOKE, "modelId", "body"),
    "InvokeModelWithResponseStream": _bedrock("generate_content", _INVOKE, "modelId", "body", True),
    "StartAsyncInvoke": _bedrock("generate_content", _ACCEPTED, "modelId"),
    "ApplyGuardrail": _bedrock("moderation", _OUTPUT, "guardrailIdentifier"),
    "InvokeGuardrailChecks": _bedrock("moderation", _ACCEPTED, ""),
    "InvokeAgent": _agents("invoke_agent", _AGENT, "agentId", "completion", True),
    "InvokeInlineAgent": _agents("invoke_agent", _AGENT, "foundationModel", "completion", True),
    "InvokeFlow": _agents("invoke_agent", _FLOW, "flowIdentifier", "responseStream", True),
    "RetrieveAndGenerate": _agents("generate_content", _TEXT, "modelArn"),
    "RetrieveAndGenerateStream": _agents("generate_content", _TEXT, "modelArn", "stream", True),
    "Rerank": _agents("rerank", _ACCEPTED, ""),
    "GenerateQuery": _agents("generate_content", _ACCEPTED, ""),
    "InvokeEndpoint": _sagemaker(_INVOKE, "EndpointName", "Body"),
    "InvokeEndpointAsync": _sagemaker(_ACCEPTED, "EndpointName"),
    "InvokeEndpointWithResponseStream": _sagemaker(_INVOKE, "EndpointName", "Body", True),
}
"""The operations by their name, which is unique among these services."""
