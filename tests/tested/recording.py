"""Notes what each test shows of an SDK: it looks at what the recorder of a real call is told.

`RECORD_TESTED=1` writes it into `tested.json`. In any other run, a test that the file names must show again what it showed.
"""

import asyncio
import os
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from llm_errors.call import CallInfo, CallOutcome
from llm_errors.telemetry.recorder import Recorder
from tests.tested import load, save

RECORDS = os.environ.get("RECORD_TESTED") == "1"
PLACES = ("tests/sdks/", "tests/adk/", "tests/frameworks/", "tests/promises/test_retries.py")
"""Where tests call real SDKs over sockets."""


class Recording:
    """What the tests of one session have shown, by distribution and trait."""

    def __init__(self) -> None:
        self.test = ""
        self.passed: set[str] = set()
        self.shown: dict[tuple[str, str], dict[str, None]] = {}
        self.of: dict[str, dict[str, Any]] = {}

    def watch(self) -> None:
        """Look at every call that a recorder is told of."""
        close, retried = Recorder.close, Recorder.retried

        def noting_close(recorder: Recorder, scope: Any, ending: CallOutcome) -> None:
            self._note(ending.info, *_traits(ending))
            close(recorder, scope, ending)

        def noting_retried(recorder: Recorder, info: CallInfo, evidence: Any) -> None:
            self._note(info, "hidden retries")
            retried(recorder, info, evidence)

        Recorder.close, Recorder.retried = noting_close, noting_retried  # type: ignore[method-assign]

    def _note(self, info: CallInfo, *traits: str) -> None:
        if not self.test.startswith(PLACES):
            return
        known = self.of.setdefault(info.distribution, {"dialects": set(), "providers": set(), "sdk": info.sdk})
        known["dialects"].add(info.dialect)
        known["providers"].add(info.provider)
        for trait in traits:
            self.shown.setdefault((info.distribution, trait), {})[self.test] = None

    def told(self) -> dict[str, Any]:
        """What the process of a worker has seen, for `add` in the process that started it."""
        of = {
            name: {**known, **{n: sorted(known[n]) for n in ("dialects", "providers")}}
            for name, known in self.of.items()
        }
        return {"passed": sorted(self.passed), "shown": [[*key, *tests] for key, tests in self.shown.items()], "of": of}

    def add(self, told: dict[str, Any]) -> None:
        """What a worker has seen is seen."""
        self.passed.update(told["passed"])
        for distribution, trait, *tests in told["shown"]:
            self.shown.setdefault((distribution, trait), {}).update(dict.fromkeys(tests))
        for distribution, known in told["of"].items():
            own = self.of.setdefault(distribution, {"dialects": set(), "providers": set(), "sdk": known["sdk"]})
            own["dialects"].update(known["dialects"])
            own["providers"].update(known["providers"])

    def ended(self, environment: str) -> list[str]:
        """Write what was shown, or say which claims about this environment the session has disproved."""
        recorded = load()
        if RECORDS:
            known = recorded.setdefault(environment, {})
            for distribution, found in self._found().items():
                known[distribution] = _merged(known.get(distribution, {}), found)
            save(recorded)
            return []
        return list(self._disproved(recorded.get(environment, {})))

    def _found(self) -> dict[str, dict[str, object]]:
        found: dict[str, dict[str, object]] = {}
        for distribution, known in self.of.items():
            shown = {
                trait: min(passed, key=len)
                for (of, trait), tests in sorted(self.shown.items())
                if of == distribution and (passed := [test for test in tests if test in self.passed])
            }
            if shown and (version := _version(distribution)):
                found[distribution] = {
                    "sdk": known["sdk"],
                    "version": version,
                    "dialects": sorted(known["dialects"]),
                    "providers": sorted(known["providers"]),
                    "shown": shown,
                }
        return found

    def _disproved(self, recorded: dict[str, dict[str, Any]]) -> Iterator[str]:
        for distribution, known in recorded.items():
            for trait, test in known["shown"].items():
                if test in self.passed and test not in self.shown.get((distribution, trait), {}):
                    yield f"{test} no longer shows `{trait}` of {distribution}"


def _merged(known: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """What a session showed, beside what another one has shown of the same version."""
    if known.get("version") != found["version"]:
        return found
    lists = {name: sorted({*known[name], *found[name]}) for name in ("dialects", "providers")}
    return {**found, **lists, "shown": {**known["shown"], **found["shown"]}}


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:  # a test's own stand-in
        return ""


def _traits(ending: CallOutcome) -> Iterator[str]:
    info, evidence = ending.info, ending.evidence
    yield ("async " if _is_in_a_loop() else "") + ("stream" if info.stream else "plain")
    if evidence is None:
        yield "cancelled" if ending.cancelled else "ok"
        return
    began = info.stream and ending.time_to_first_chunk is not None
    if began and (evidence.exceptions or evidence.embedded or "no_end" in evidence.facts):
        yield "mid-stream"
    else:
        yield "in-band" if evidence.channel == "in_band" else "thrown"


def _is_in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def name_of(nodeid: str) -> str:
    """A test's name without its parameters, from the root of the repository."""
    return Path(nodeid.partition("[")[0]).as_posix()
