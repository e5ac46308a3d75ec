"""`llm-errors run` around applications of several processes: servers with workers, forks, kernels."""

import json
import re
import signal
import sys
import threading
from urllib.request import ProxyHandler, build_opener

import pytest

from llm_errors.testing import Reply, replies
from tests.tools.run.conftest import APPS, PATIENCE

SERVERS = {
    "gunicorn": ["gunicorn", "web:wsgi", "--workers", "2", "--bind", "127.0.0.1:0"],
    "uvicorn": ["uvicorn", "web:asgi", "--workers", "2", "--port", "0", "--timeout-worker-healthcheck", "60"],
}


class Held:
    """A provider's script: the first call hangs until released, every other one is answered."""

    def __init__(self):
        self._first = True

    def __call__(self, request):
        first, self._first = self._first, False
        return Reply(action="hang") if first else replies.openai_answer("fine")


READY = {"gunicorn": "Booting worker", "uvicorn": "startup complete"}
"""What each server says once per worker; uvicorn's listen only from then on."""


def address(process, ready):
    """Where the server listens, when both of its workers are ready."""
    url, workers = "", 0
    for line in process.stderr:
        if found := re.search(r"(?:Listening at:|running on) (http://[\d.]+:\d+)", line):
            url = found[1]
        workers += ready in line
        if workers == 2:
            return url
    raise AssertionError("the server has not started")


def ask(url):
    with build_opener(ProxyHandler({})).open(url, timeout=PATIENCE) as answer:
        return answer.read().decode().split()


@pytest.mark.parametrize("server", SERVERS)
def test_the_calls_of_every_worker_are_counted_once(server, start, provider, tmp_path):
    pytest.importorskip(server)
    model, file = provider(Held()), tmp_path / "report.json"
    process = start(
        sys.executable,
        "-m",
        *SERVERS[server],
        options=["--json", "--output", str(file)],
        variables={"MODEL_URL": model.url},
    )
    url, answers = address(process, READY[server]), []
    held = threading.Thread(target=lambda: answers.append(ask(url)))
    held.start()
    assert model.hanging.wait(PATIENCE)  # one worker is busy now, so the next request is the other one's
    answers += [ask(url), ask(url)]
    model.release.set()
    held.join(PATIENCE)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE)
    report = json.loads(file.read_text())
    assert sorted(said for _, said in answers) == ["APIConnectionError", "answered", "answered"]
    assert len({pid for pid, _ in answers}) == 2
    assert report["calls"] == {"total": 3, "ok": 2, "failed": 1, "cancelled": 0}
    assert [row["class"] for row in report["failures"]["classes"]] == ["TRANSPORT"]
    assert report["run"]["processes"] >= 2


@pytest.mark.parametrize("how", ["interpreter", "fork", "spawn"])
def test_calls_before_and_after_in_and_beside_a_child_are_counted_once(how, start, provider, tmp_path):
    model, file = provider([replies.openai_answer("fine")]), tmp_path / "report.json"
    process = start(
        sys.executable, str(APPS / "processes.py"), model.url, how, options=["--json", "--output", str(file)]
    )
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert len(model.requests) == 3
    report = json.loads(file.read_text())
    assert (report["calls"]["ok"], report["calls"]["total"]) == (3, 3)
    assert report["run"]["processes"] >= 2
