"""Starts applications under `opentelemetry-instrument` and tells them what to do."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

from replies import PLANTED_KEY

HERE = Path(__file__).parent
SERVICE = "shop"
ENDED_SECONDS = 60


class Application:
    """One instrumented process. `call` returns when the model calls are done; `end` lets it exit and flush."""

    def __init__(self, otlp: str, folder: Path, service: str = SERVICE, **settings: str):
        self.errors = folder / f"application-{id(self)}.log"
        folder.mkdir(parents=True, exist_ok=True)
        environment = {
            **os.environ,
            "OTEL_SERVICE_NAME": service,
            "OTEL_EXPORTER_OTLP_ENDPOINT": otlp,
            "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
            "PROVIDER_KEY": PLANTED_KEY,
            "OTEL_TRACES_EXPORTER": "otlp",
            "OTEL_METRICS_EXPORTER": "otlp",
            "OTEL_LOGS_EXPORTER": "otlp",
            "OTEL_METRIC_EXPORT_INTERVAL": "500",
            "OTEL_BSP_SCHEDULE_DELAY": "200",
            "OTEL_BLRP_SCHEDULE_DELAY": "200",
            **settings,
        }
        instrument = Path(sys.executable).with_name("opentelemetry-instrument")
        command = [str(instrument), sys.executable, str(HERE / "caller.py")]
        with self.errors.open("wb") as errors:
            self.process = subprocess.Popen(
                command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )

    def order(self, **order: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, f"the application ended: {self.printed()[-3000:]}"
        result: dict[str, Any] = json.loads(answer)
        return result

    def call(self, model: str = "gpt-5", failure: str | None = None, count: int = 1, **more: Any) -> dict[str, Any]:
        """`{}` in the model name becomes the number of the call; `failure` is the class that each call ends in."""
        return self.order(model=model, failure=failure, count=count, **more)

    def printed(self) -> str:
        return self.errors.read_text(errors="replace")

    def freeze(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        """Lets it exit by itself, with everything the SDK does then."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(ENDED_SECONDS)

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()
