"""What the tables of this folder ask of an answer."""

from llm_errors.classify import decide


def verdict(answer):
    """Class and reason, or None for a healthy answer."""
    found = answer.suspicion and decide(answer.suspicion)
    return found and f"{found.error_class}/{found.reason}"


def told(answer):
    """The same, with a word for a healthy answer."""
    return "ok" if answer.suspicion is None else verdict(answer)


def of_chunks(reader, *chunks):
    """What a reader says of a stream of these chunks."""
    return streamed(reader, chunks)


def streamed(reader, chunks):
    """What a reader says of a stream."""
    state = reader.chunks()
    for one in chunks:
        state.chunk(one)
    return state.end()
