"""The corpus of reported failures, and how its cases become what the readers read."""

from pathlib import Path
from typing import Any

import yaml

from llm_errors.extract.saved import Saved
from llm_errors.providers import SDKS

HERE = Path(__file__).parent
PROVIDERS = {
    **{row.distribution: row.provider for row in reversed(SDKS) if row.provider != "other"},
    **{"boto3": "aws.bedrock", "mistralai": "mistral_ai", "cohere": "cohere"},
}
DIALECTS = {
    **{row.distribution: row.dialect for row in reversed(SDKS)},
    **{"boto3": "bedrock", "mistralai": "mistral", "cohere": "cohere"},
}


def cases(*names: str) -> list[dict[str, Any]]:
    """The cases of some files, or of all of them that hold failures."""
    files = [HERE / f"{n}.yaml" for n in names] or sorted(p for p in HERE.glob("*.yaml") if p.stem != "instrumentation")
    return [case for path in files for case in yaml.safe_load(path.read_text())]


def pieces(case: dict[str, Any]) -> Saved:
    """What somebody would have saved of a case."""
    sdk = case["sdk"].partition("[")[0]
    reply = (case.get("reply") or [{}])[0]
    body = reply.get("json", reply.get("text"))
    if "sse" in reply and "action" not in reply:
        body = "\n".join(reply["sse"])
    if "ndjson" in reply:
        body = reply["ndjson"]
    for frame in reply.get("eventstream", ()):
        body = {"error": {"type": frame["type"], **frame["payload"]}} if frame["kind"] == "exception" else body
    began = reply.get("action") in ("cut_mid_stream", "hang_mid_stream") or len(reply.get("eventstream", ())) > 1
    if case.get("exceptions") and reply.get("status") == 200:
        reply, body = {}, None  # what was raised came after a good answer
    return Saved(
        status=reply.get("status") if "action" not in reply else None,
        headers=reply.get("headers") or {},
        body=body,
        exceptions=tuple(map(tuple, case.get("exceptions") or ())),
        provider=PROVIDERS.get(sdk, ""),
        dialect=DIALECTS.get(sdk, "openai"),
        partial_output=began,
    )
