"""cohere: an SDK of the Fern family. Its clients for AWS call Bedrock or SageMaker."""

from collections.abc import Iterator, Sequence
from typing import Any

from llm_errors.call import CallInfo
from llm_errors.extract import results
from llm_errors.extract.fields import field, text
from llm_errors.instrument.adapters.fern import Fern
from llm_errors.instrument.adapters.refusals import refusal
from llm_errors.instrument.protocol import Target


class Cohere(Fern):
    """The adapter of cohere's raw clients."""

    def targets(self) -> Iterator[Target]:
        """The targets of the Fern family, and the function with which the version 1 client checks arguments."""
        yield from super().targets()
        yield Target("cohere.client", "", "throw_if_stream_is_true", refusal, optional=True)

    def refused(self, instance: Any, exc: BaseException, given: Sequence[Any] = ()) -> CallInfo | None:
        """The SDK refused `chat(stream=True)`; streaming has a separate method. The refused call does not tell the model."""
        return self.info(operation="chat", model=None, reader=results.COHERE_V1)

    def provider(self, wrapper: Any) -> str:
        """The AWS service that answers, if the client signs its requests for AWS; otherwise an empty text.

        The closure of one of the SDK's request hooks contains the service's name.
        """
        hooks = field(field(field(wrapper, "httpx_client"), "httpx_client"), "event_hooks")
        for hook in field(hooks, "request") or ():
            if field(hook, "__module__") == "cohere.aws_client":
                held = [text(cell.cell_contents) for cell in hook.__closure__]
                return "aws.sagemaker" if "sagemaker" in held else "aws.bedrock"
        return ""
