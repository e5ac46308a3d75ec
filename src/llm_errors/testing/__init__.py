"""Contains a scripted provider on a loopback port, to test how an application handles failures. Standard library only.

`Provider` plays `Reply` objects over real HTTP, so your code, the real SDK, its retries and its parsing take part in the test.
`replies` writes what OpenAI, Anthropic and Gemini send: `openai_answer`, `openai_stream`, `openai_error`, `openai_call`,
`anthropic_answer`, `anthropic_stream`, `anthropic_error`, `anthropic_error_body`, `gemini_answer`, `gemini_stream`,
`gemini_error` and `gemini_blocked`. For everything else write `Reply(status, json=...)`.

```python
import openai

from llm_errors import classify
from llm_errors.testing import Provider, Reply, replies

script = [
    replies.openai_error(429, "insufficient_quota", "insufficient_quota", "You exceeded your current quota."),
    replies.openai_answer("", finish="content_filter"),  # a failure inside HTTP 200
    replies.openai_stream(["Hel", "lo"], finish=None, action="cut_mid_stream"),  # the connection drops
    replies.openai_answer("Hello!"),  # the last reply repeats
]
with Provider(script) as provider:
    client = openai.OpenAI(base_url=f"{provider.url}/v1", api_key="test", max_retries=0)

    def ask(**how):
        messages = [{"role": "user", "content": "Hi"}]
        return client.chat.completions.create(model="gpt-5-mini", messages=messages, **how)

    try:
        ask()
    except openai.RateLimitError as error:
        print(classify(error).error_class)  # CALL_BUDGET
    print(classify(ask()).error_class)  # OUTPUT_BLOCKED
    try:
        for chunk in ask(stream=True):
            pass
    except Exception as error:
        print(classify(error, partial_output=True).error_class)  # TRANSPORT
    print(ask().choices[0].message.content)  # Hello!
    print(len(provider.requests), provider.requests[0].json()["model"])  # 4 gpt-5-mini
```

Other clients have other arguments for the address: `anthropic.Anthropic(base_url=provider.url)` and
`genai.Client(http_options={"base_url": provider.url})`.

Instead of a list, a script can be a function from `Request` to `Reply`, which may answer by path, model or prompt, or fail
every third time. A hanging reply (`Reply(action="hang")`) ends when the test sets the event `provider.release`. The event
`provider.hanging` is set when the request has arrived, so a test can wait for it instead of sleeping.
"""

from llm_errors.testing import replies
from llm_errors.testing.provider import Provider, Reply, Request, Script

__all__ = ["Provider", "Reply", "Request", "Script", "replies"]
