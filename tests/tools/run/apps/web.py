"""A web application that calls a model once per request, for WSGI and ASGI servers with several workers."""

import os

import openai

_client = openai.OpenAI(base_url=f"{os.environ['MODEL_URL']}/v1", api_key="test", max_retries=0)


def _ask():
    """Which process has answered, and how the call went; it keeps the whole worker busy until then."""
    try:
        _client.chat.completions.create(model="gpt-5-mini", messages=[{"role": "user", "content": "hello"}])
        said = "answered"
    except openai.OpenAIError as error:
        said = type(error).__name__
    return f"{os.getpid()} {said}".encode()


def wsgi(environ, start_response):
    start_response("200 OK", [("content-type", "text/plain")])
    return [_ask()]


async def asgi(scope, receive, send):
    if scope["type"] != "http":
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": _ask()})
