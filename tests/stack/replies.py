"""What the model provider answers in OpenAI's chat dialect: the first part of the path names the class wanted."""

from typing import Any

from llm_errors.testing.provider import Reply, Request

PLANTED_KEY = "sk-proj-plantedPLANTED0123456789plantedPLANTED"
"""The key that the application uses and that the provider repeats in its message."""


def _error(status: int, code: str, message: str) -> Reply:
    return Reply(status, json={"error": {"message": message, "type": "error", "param": None, "code": code}})


def _answer(finish_reason: str) -> Reply:
    message = {"role": "assistant", "content": "hello"}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    body: dict[str, Any] = {"id": "c-1", "object": "chat.completion", "created": 1, "model": "served", "usage": usage}
    return Reply(json={**body, "choices": [{"index": 0, "finish_reason": finish_reason, "message": message}]})


REPLIES = {
    "OK": _answer("stop"),
    "AUTH": _error(401, "invalid_api_key", f"Incorrect API key provided: {PLANTED_KEY}."),
    "NOT_FOUND": _error(404, "model_not_found", "The model does not exist."),
    "SERVER": _error(500, "internal_error", "The server had an error."),
    "TIMEOUT": _error(408, "timeout", "Request timed out."),
    "RATE_LIMITED": _error(429, "rate_limit_exceeded", "Rate limit reached for requests."),
    "PROMPT_BLOCKED": _error(400, "content_filter", "The prompt was filtered."),
    "OUTPUT_BLOCKED": _answer("content_filter"),
    "TRUNCATED": _answer("length"),
}


def reply(request: Request) -> Reply:
    return REPLIES[request.path.split("/")[1]]
