"""The fault-injecting provider, seen through http.client and raw sockets: each action does what it is named after."""

import http.client
import json
import socket
from urllib.parse import urlsplit

import pytest

from llm_errors.testing.provider import Reply

GET = b"GET /x HTTP/1.1\r\nhost: x\r\n\r\n"


def _connect(provider):
    return socket.create_connection(("127.0.0.1", urlsplit(provider.url).port), timeout=300)


def _ask(provider, method="GET", path="/x", body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(provider.url).port, timeout=300)
    connection.request(method, path, body, headers or {})
    return connection, connection.getresponse()


def _received(connection):
    data = b""
    while part := connection.recv(65536):
        data += part
    return data


def test_a_script_is_played_reply_by_reply_and_its_last_one_repeats(provider):
    server = provider([Reply(503, headers={"Retry-After": "7"}, json={"a": 1}), Reply(text="fine")])
    connection, first = _ask(server)
    assert (first.status, first.getheader("retry-after"), json.load(first)) == (503, "7", {"a": 1})
    for _ in range(2):
        connection.request("GET", "/x")
        assert connection.getresponse().read() == b"fine"
    connection.close()
    assert len(server.requests) == 3


def test_a_function_sees_the_request(provider):
    server = provider(lambda request: Reply(json=[request.method, request.path, request.headers["a"], request.json()]))
    connection, reply = _ask(server, "POST", "/v1?x=1", json.dumps({"b": 2}), {"A": "1"})
    assert json.load(reply) == ["POST", "/v1?x=1", "1", {"b": 2}]
    connection.close()


def test_a_chunked_request_is_read_whole(provider):
    server = provider([Reply(text="ok")])
    connection, reply = _ask(server, "POST", body=iter((b'{"a"', b": [1]}")))
    assert reply.read() == b"ok"
    assert server.requests[0].json() == {"a": [1]}
    connection.close()


@pytest.mark.parametrize(
    ("reply", "content_type", "body"),
    [
        (Reply(sse=["data: 1", ""]), "text/event-stream", b"data: 1\n\n"),
        (Reply(ndjson=[{"a": 1}, 2]), "application/x-ndjson", b'{"a": 1}\n2\n'),
        (Reply(chunked=True, text="abc"), "text/plain", b"abc"),
        (Reply(), "application/json", b""),
    ],
)
def test_each_kind_of_body(provider, reply, content_type, body):
    connection, response = _ask(provider([reply]))
    assert (response.getheader("content-type"), response.read()) == (content_type, body)
    connection.close()


def test_an_aws_frame_says_how_long_it_is_and_carries_its_payload(provider):
    reply = Reply(eventstream=[("throttlingException", {"message": "slow"}, "exception")])
    connection, response = _ask(provider([reply]))
    frame = response.read()
    assert int.from_bytes(frame[:4], "big") == len(frame)
    assert b":exception-type" in frame
    assert frame[:-4].endswith(b'{"message": "slow"}')
    connection.close()


def test_close_at_once_sends_no_byte(provider):
    with _connect(provider([Reply(action="close_at_once")])) as connection:
        connection.sendall(GET)
        assert connection.recv(1) == b""


def test_reset_is_a_tcp_reset(provider):
    with _connect(provider([Reply(action="reset")])) as connection:
        connection.sendall(GET)
        with pytest.raises(ConnectionResetError):
            connection.recv(1)


def test_hang_sends_nothing_until_released(provider):
    server = provider([Reply(action="hang")])
    with _connect(server) as connection:
        connection.sendall(GET)
        assert server.hanging.wait(10)
        connection.setblocking(False)
        with pytest.raises(BlockingIOError):
            connection.recv(1)
        connection.settimeout(10)
        server.release.set()
        assert connection.recv(1) == b""


def test_cut_mid_stream_ends_inside_the_body(provider):
    connection, response = _ask(provider([Reply(sse=["data: 1", ""], action="cut_mid_stream")]))
    with pytest.raises(http.client.IncompleteRead) as cut:
        response.read()
    assert cut.value.partial == b"data: 1\n\n"
    connection.close()


def test_hang_mid_stream_sends_the_body_then_waits(provider):
    server = provider([Reply(sse=["data: 1", ""], action="hang_mid_stream")])
    with _connect(server) as connection:
        connection.sendall(GET)
        assert server.hanging.wait(10)
        server.release.set()
        data = _received(connection)
        assert b"data: 1" in data
        assert not data.endswith(b"0\r\n\r\n")


def test_a_pause_holds_the_rest_back_until_released(provider):
    server = provider([Reply(sse=["data: 1", "", "data: 2", ""], pause_before=2)])
    connection, response = _ask(server)
    assert response.readline() == b"data: 1\n"
    assert server.hanging.wait(10)
    server.release.set()
    assert response.read() == b"\ndata: 2\n\n"
    connection.close()


def test_closing_drops_open_connections(provider):
    server = provider([Reply(action="hang")])
    with _connect(server) as connection:
        connection.sendall(GET)
        assert server.hanging.wait(10)
        server.close()
        assert connection.recv(1) == b""


def test_a_script_that_raises_is_answered_with_what_it_raised(provider, capsys):
    def script(request):
        raise KeyError("model")

    connection, response = _ask(provider(script))
    assert (response.status, response.read()) == (500, b"the script of this provider raised KeyError('model')")
    connection.close()
    assert "KeyError" in capsys.readouterr().err
