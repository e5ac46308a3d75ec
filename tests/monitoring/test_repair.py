"""What only a repair ends: pages that stay until a call succeeds, and end then."""

import pytest
from artifact_tools import promtool
from promtool_scenario import Scenario, begins, calls, errors, failed, firing

from llm_errors.monitoring.options import Options

CREDENTIAL, BUDGET, MISSING = "LLMCredentialOrModelError", "LLMCallBudgetExhausted", "LLMTelemetryMissing"
PAGES = firing(CREDENTIAL)

SCENARIOS = [
    Scenario(
        "a job each 30 minutes with a revoked key is one page in four hours, and the first good run ends it",
        [
            calls("ok", "_x20 0x959 1x119 2x119"),
            *failed("AUTH/invalid_key", "_x20 1x119 2x119 3x119 4x119 5x119 6x119 7x119 8x357"),
        ],
        "270m",
        {CREDENTIAL},
        {
            (begins(CREDENTIAL, "4h"), "4h"): 1,
            (PAGES, "244m"): 1,
            (PAGES, "250m"): None,
            (PAGES, "270m"): None,
        },
    ),
    Scenario(
        "a success beside continuing failures ends nothing",
        [calls("ok", "0+5x240"), calls("error", "_x40 1+1x200"), errors("AUTH/expired", "_x40 1+1x200")],
        "60m",
        {CREDENTIAL},
        {(PAGES, "10m"): 1, (PAGES, "60m"): 1, (begins(CREDENTIAL, "60m"), "60m"): 1},
    ),
    Scenario(
        "it ends when the last failure is five minutes old and a call has succeeded since",
        [calls("ok", "0x60 0+1x180"), *failed("AUTH/expired", "_x40 1x200")],
        "60m",
        {CREDENTIAL},
        {(PAGES, "14m45s"): 1, (PAGES, "15m30s"): None, (PAGES, "60m"): None},
    ),
    Scenario(
        "a success just before the last failure is none since",
        [calls("ok", "0x35 1x205"), *failed("AUTH/expired", "_x40 1x200")],
        "60m",
        {CREDENTIAL},
        {(PAGES, "60m"): 1},
    ),
    Scenario(
        "another model's success ends nothing",
        [calls("ok", "0+5x240", "openai/mini"), *failed("AUTH/expired", "_x40 1x200")],
        "60m",
        {CREDENTIAL},
        {(PAGES, "60m"): 1},
    ),
    Scenario(
        "another cluster's success ends nothing",
        [calls("ok", "0+5x240", cluster="b"), *failed("AUTH/expired", "_x40 1x200", cluster="a")],
        "60m",
        {CREDENTIAL},
        {(firing(CREDENTIAL, cluster="a"), "60m"): 1},
    ),
    Scenario(
        "a replaced model name ends its page within 35 minutes",
        [calls("ok", "0x60 0+2x260", "openai/new"), *failed("NOT_FOUND/model", "_x40 1x20 2x260", "openai/old")],
        "80m",
        {CREDENTIAL},
        {(PAGES, "43m"): 1, (PAGES, "50m"): None, (begins(CREDENTIAL, "80m"), "80m"): 1},
    ),
    Scenario(
        "a missing model that is still asked for keeps its page while other models work",
        [
            calls("ok", "0+2x400", "openai/new"),
            *failed("NOT_FOUND/model", "_x40 1x79 2x79 3x79 4x79 5x40", "openai/old"),
        ],
        "95m",
        {CREDENTIAL},
        {(PAGES, "95m"): 1, (begins(CREDENTIAL, "95m"), "95m"): 1},
    ),
    Scenario(
        "a missing model that nobody asks for any more stays while nothing at that provider works",
        [calls("ok", "0+2x320", "anthropic/claude"), *failed("NOT_FOUND/model", "_x40 1x280", "openai/old")],
        "80m",
        {CREDENTIAL},
        {(PAGES, "80m"): 1},
    ),
    Scenario(
        "a wrong key that nobody uses any more stays: AUTH has no such end",
        [calls("ok", "0+2x320", "openai/new"), *failed("AUTH/expired", "_x40 1x280", "openai/old")],
        "80m",
        {CREDENTIAL},
        {(PAGES, "80m"): 1},
    ),
    Scenario(
        "one day after the last failure it ends in any case",
        failed("AUTH/expired", "_x12 1x310"),
        "26h",
        {CREDENTIAL},
        {(PAGES, "24h50m"): 1, (PAGES, "25h10m"): None, (PAGES, "26h"): None},
        interval="5m",
    ),
    Scenario(
        "a spent account holds alike and ends with a success; a run's own limit does not hold",
        [
            calls("ok", "0x200 0+1x120"),
            *failed("CALL_BUDGET/insufficient_quota", "_x40 1x280"),
            *failed("CALL_BUDGET/max_turns", "_x40 1x280", job="agent"),
        ],
        "80m",
        {BUDGET},
        {
            (firing(BUDGET, severity="page", job="desk"), "49m"): 1,
            (firing(BUDGET, severity="page", job="desk"), "51m"): None,
            (firing(BUDGET, severity="ticket", job="agent"), "20m"): 1,
            (firing(BUDGET, severity="ticket", job="agent"), "30m"): None,
        },
    ),
    Scenario(
        "a service with own keys holds a ticket for its spent account",
        failed("CALL_BUDGET/insufficient_quota", "_x40 1x280", job="byok"),
        "60m",
        {BUDGET},
        {(firing(BUDGET, severity="ticket"), "60m"): 1, (firing(BUDGET, severity="page"), "60m"): None},
        options=Options(own_keys=("byok",)),
    ),
    Scenario(
        "a pod that crash-loops under one identity keeps firing",
        failed("AUTH/missing_key", "_x4 " + "_x3 1x5 " * 24),
        "55m",
        {CREDENTIAL},
        {(PAGES, "40m"): 1, (begins(CREDENTIAL, "50m"), "50m"): 1},
    ),
    Scenario(
        "the same pod where each of its lives tells its start by a zero",
        failed("AUTH/missing_key", "_x4 " + "_x2 0 1x5 " * 24),
        "55m",
        {CREDENTIAL},
        {(PAGES, "40m"): 1, (begins(CREDENTIAL, "50m"), "50m"): 1},
    ),
    Scenario(
        "the job each 30 minutes is one page, too, where each run tells its start by a zero",
        [
            calls("ok", "_x979 0 1x119 0 1x119"),
            *failed("AUTH/invalid_key", "_x19 " + "0 1x119 " * 8 + "_x240"),
        ],
        "270m",
        {CREDENTIAL},
        {(begins(CREDENTIAL, "4h"), "4h"): 1, (PAGES, "244m"): 1, (PAGES, "250m"): None, (PAGES, "270m"): None},
    ),
    Scenario(
        "a success of a service that got a label meanwhile ends the page of before",
        [
            *failed("AUTH/expired", "_x40 1x20 stale"),
            *failed("AUTH/expired", "_x61 1x200", cluster="a"),
            calls("ok", "_x61 0x60 0+1x200", cluster="a"),
        ],
        "60m",
        {CREDENTIAL},
        {(PAGES, "29m"): 1, (PAGES, "32m"): None, (PAGES, "60m"): None},
    ),
]


@pytest.mark.parametrize("version", ["current", "debian"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.says.replace(" ", "_"))
def test_scenario(scenario: Scenario, version: str, tmp_path) -> None:
    assert scenario.run(promtool(version), tmp_path) == ""
