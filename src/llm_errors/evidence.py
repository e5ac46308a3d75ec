"""What is known about a failed call (`Evidence`), and the verdict over it (`Classification`).

Both are frozen and hold primitives only, so that a stored case *is* an evidence, and nothing keeps an exception or a
body alive. Standard library only.
"""

from dataclasses import dataclass, field

from llm_errors.taxonomy import ErrorClass


@dataclass(frozen=True)
class Evidence:
    """One failure (or suspect answer), stripped of everything that belongs to an SDK.

    `dialect` is the wire dialect the facts are written in (`openai`, `anthropic`, `google`, ...; empty when unknown).
    `exceptions` is the chain from the raised exception to its root cause, each link the names along its MRO as
    `package.Class` (httpx2 counts as httpx, httpcore2 as httpcore), so that no row needs an import.
    `codes` are the provider's own codes, most specific first. `facts` are findings about the content, such as
    `refusal`. `embedded` says that an error object came inside HTTP 200. `retry_after` is in seconds.
    """

    channel: str = "thrown"
    dialect: str = ""
    provider: str = ""
    status: int | None = None
    codes: tuple[str, ...] = ()
    finish_reason: str = ""
    block_reason: str = ""
    exceptions: tuple[tuple[str, ...], ...] = ()
    facts: frozenset[str] = field(default=frozenset())
    message: str = ""
    retry_after: float | None = None
    embedded: bool = False
    partial_output: bool = False

    @property
    def exception_type(self) -> str:
        """`package.Class` of the raised exception, or an empty string."""
        return self.exceptions[0][0] if self.exceptions else ""


@dataclass(frozen=True)
class Classification:
    """The verdict over one failed call.

    `evidence` is the kind of fact that decided (`code`, `finish_reason`, `exception`, `status`, `message`, `content`)
    and `rule` the id of the row. `code` is the raw provider code or finish reason (at most 64 printable characters).
    `message` is the provider's own message field or the transport error's text, redacted and clipped to 256 characters.
    `retry_after` is in seconds, finite, 0 to 3600. `partial_output` says that a chunk had reached the caller: a retry
    would repeat text.
    """

    error_class: ErrorClass
    reason: str
    channel: str
    evidence: str
    rule: str
    status_code: int | None = None
    code: str = ""
    message: str = ""
    retryable: bool = False
    retry_after: float | None = None
    partial_output: bool = False
