"""A WSGI application for a preloading server: each request makes one model call and answers with the worker's pid."""

import os
from contextlib import suppress
from typing import Any

import openai

client = openai.OpenAI(base_url=os.environ["PROVIDER_URL"] + "/v1", api_key="k", max_retries=0)


def application(environ: dict[str, Any], start_response: Any) -> list[bytes]:
    with suppress(openai.RateLimitError):
        client.chat.completions.create(model="m", messages=[])
    start_response("200 OK", [("content-type", "text/plain"), ("connection", "close")])
    return [str(os.getpid()).encode()]
