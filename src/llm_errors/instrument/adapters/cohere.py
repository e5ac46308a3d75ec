"""cohere: of the Fern family; its clients for AWS call Bedrock or SageMaker."""

from typing import Any

from llm_errors.extract.fields import field, text
from llm_errors.instrument.adapters.fern import Fern


class Cohere(Fern):
    """The adapter of cohere's raw clients."""

    def provider(self, wrapper: Any) -> str:
        """The AWS service that answers, if the client signs its requests for AWS: a hook of the SDK holds its name."""
        hooks = field(field(field(wrapper, "httpx_client"), "httpx_client"), "event_hooks")
        for hook in field(hooks, "request") or ():
            if field(hook, "__module__") == "cohere.aws_client":
                held = [text(cell.cell_contents) for cell in hook.__closure__]
                return "aws.sagemaker" if "sagemaker" in held else "aws.bedrock"
        return ""
