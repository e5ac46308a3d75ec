"""The rules over time: each scenario names the alerts that fire in it, and all others must stay silent."""

import json
import subprocess

import pytest
import test_blindness
from artifact_tools import STACK, promtool, tool
from promtool_scenario import Scenario, calls, errors, failed, firing

from llm_errors.monitoring import rules
from llm_errors.monitoring.alerts import every_alert
from llm_errors.monitoring.options import SHARES, Options, Share

CREDENTIAL, BUDGET, REQUESTS = "LLMCredentialOrModelError", "LLMCallBudgetExhausted", "LLMBadRequests"
TOOLS, PAGE, TICKET, MODEL = (
    "LLMToolProtocolErrors",
    "LLMAvailabilityBurnPage",
    "LLMAvailabilityBurnTicket",
    "LLMModelBurnTicket",
)
SPIKE, CANCELLED, BLOCKED, TRUNCATED = (
    "LLMRateLimitSpike",
    "LLMCancelledShareHigh",
    "LLMBlockedShareHigh",
    "LLMTruncatedShareHigh",
)
UNKNOWN, UNKNOWN_SHARE, MISSING = "LLMUnknownErrors", "LLMUnknownShareHigh", "LLMTelemetryMissing"

NEW = "sum(job_attributes:llm_errors:count5m)"
BAD_IN_6H = "sum(sum_over_time(job:llm_slo_bad:count5m[6h:1m])) / 5"
VALID = "job:llm_slo_valid:count5m"
BUDGET_LEFT = "job:llm_slo_budget_remaining:ratio30d"

BIRTHS = [
    Scenario(
        "the first AUTH of a fresh process pages in the evaluation that sees it, and silence ends nothing",
        failed("AUTH/invalid_key", "_x40 1x200"),
        "60m",
        {CREDENTIAL},
        {
            (firing(CREDENTIAL, severity="page", view="correctness", job="desk"), "10m"): 1,
            (NEW, "10m"): 1,
            (NEW, "15m15s"): 0,
            (firing(CREDENTIAL), "9m45s"): None,
            (firing(CREDENTIAL), "60m"): 1,
        },
    ),
    Scenario(
        "the same where the process tells its start by a zero at that time",
        failed("AUTH/invalid_key", "_x39 0 1x200"),
        "60m",
        {CREDENTIAL},
        {(NEW, "10m"): 1, (firing(CREDENTIAL), "10m"): 1, (firing(CREDENTIAL), "9m45s"): None},
    ),
    Scenario(
        "a second replica's first AUTH is not hidden by the first replica's old ones",
        failed("AUTH/expired", "4x480") + failed("AUTH/expired", "_x360 1x120", instance="b"),
        "120m",
        {CREDENTIAL},
        {(NEW, "90m"): 1, (firing(CREDENTIAL), "80m"): None, (firing(CREDENTIAL), "90m"): 1},
    ),
    Scenario(
        "a restart under the same identity counts from nothing",
        failed("NOT_FOUND/model", "5x240 stale _x40 1x200"),
        "100m",
        {CREDENTIAL},
        {(NEW, "70m30s"): 1, (firing(CREDENTIAL), "69m"): None, (firing(CREDENTIAL), "70m30s"): 1},
    ),
    Scenario(
        "an idle series that comes back unchanged after half an hour is no news",
        failed("AUTH/invalid_key", "1x240 stale _x120 1x200"),
        "130m",
        since="30m",
        values={(NEW, "91m"): 0},
        raises={MISSING},
    ),
    Scenario(
        "what grew across a gap counts exactly",
        failed("AUTH/invalid_key", "1x240 stale _x60 3x200"),
        "110m",
        {CREDENTIAL},
        {(NEW, "76m"): 2},
        since="30m",
    ),
    Scenario(
        "one lone sample pages",
        failed("AUTH/invalid_key", "_x40 1"),
        "30m",
        {CREDENTIAL},
        {(NEW, "12m"): 1, (firing(CREDENTIAL), "10m"): 1},
    ),
    Scenario(
        "a process that dies after one scrape counts for its whole five minutes",
        failed("AUTH/invalid_key", "_x40 1 stale"),
        "30m",
        {CREDENTIAL},
        {(NEW, "14m30s"): 1, (NEW, "15m15s"): None},
    ),
    Scenario(
        "a series born at zero pages only when it moves",
        failed("AUTH/invalid_key", "0x80 1x80"),
        "40m",
        {CREDENTIAL},
        {(firing(CREDENTIAL), "20m"): None, (firing(CREDENTIAL), "20m15s"): 1},
    ),
    Scenario(
        "known miss: the same value after a restart of the same identity whose zero was never seen",
        failed("AUTH/invalid_key", "1x240 _x2 1x100"),
        "80m",
        since="30m",
    ),
]

EVENTS = [
    Scenario(
        "services with own keys get a ticket where others get a page",
        failed("AUTH/expired", "_x40 1x80", job="byok") + failed("AUTH/expired", "_x40 1x80", job="desk"),
        "20m",
        {CREDENTIAL},
        {
            (firing(CREDENTIAL, severity="ticket", job="byok"), "10m"): 1,
            (firing(CREDENTIAL, severity="page", job="byok"), "10m"): None,
            (firing(CREDENTIAL, severity="page", job="desk"), "10m"): 1,
            (firing(CREDENTIAL, severity="ticket", job="desk"), "10m"): None,
        },
        options=Options(own_keys=("byok",)),
    ),
    Scenario(
        "a spent account pages",
        failed("CALL_BUDGET/insufficient_quota", "_x40 1x80"),
        "20m",
        {BUDGET},
        {(firing(BUDGET, severity="page"), "10m"): 1, (firing(BUDGET, severity="ticket"), "10m"): None},
    ),
    Scenario(
        "a run's own limit is a ticket",
        failed("CALL_BUDGET/max_turns", "_x40 1x80"),
        "20m",
        {BUDGET},
        {(firing(BUDGET, severity="ticket"), "10m"): 1, (firing(BUDGET, severity="page"), "10m"): None},
    ),
    Scenario(
        "one refused request is a ticket",
        failed("BAD_REQUEST/invalid_parameter", "_x40 1x80"),
        "20m",
        {REQUESTS},
        {(firing(REQUESTS, severity="ticket", view="correctness"), "10m"): 1},
    ),
    Scenario(
        "context overflow below 1 % of calls is silent",
        [calls("ok", "0+1000x120"), *failed("BAD_REQUEST/context_overflow", "0+5x120")],
        "2h",
        interval="1m",
    ),
    Scenario(
        "context overflow above 1 % of calls is a ticket",
        [calls("ok", "0+100x120"), *failed("BAD_REQUEST/context_overflow", "0+2x120")],
        "2h",
        {REQUESTS},
        {(firing(REQUESTS, llm_error_reason="context_overflow"), "2h"): 1},
        interval="1m",
    ),
    Scenario(
        "TOOL_PROTOCOL at 1 % is silent",
        [calls("ok", "0+99x120"), *failed("TOOL_PROTOCOL/malformed_call", "0+1x120")],
        "2h",
        interval="1m",
    ),
    Scenario(
        "TOOL_PROTOCOL at 4 % is a ticket",
        [calls("ok", "0+96x120"), *failed("TOOL_PROTOCOL/malformed_call", "0+4x120")],
        "2h",
        {TOOLS},
        {(firing(TOOLS, severity="ticket", view="correctness", llm_error_class="TOOL_PROTOCOL"), "2h"): 1},
        interval="1m",
    ),
]

AVAILABILITY = [
    Scenario(
        "all traffic blocked for hours burns nothing and pages nobody",
        [
            calls("ok", "0+60x360 21600x240"),
            calls("error", "0x360 0+60x240"),
            errors("PROMPT_BLOCKED/safety", "0x360 0+30x240"),
            errors("OUTPUT_BLOCKED/safety", "0x360 0+30x240"),
        ],
        "10h",
        {BLOCKED},
        {("job:llm_slo_bad:ratio5m", "9h"): None, (VALID, "9h"): 0, (BUDGET_LEFT, "9h"): 1},
        interval="1m",
    ),
    Scenario(
        "4 % RATE_LIMITED at a model pages within 15 minutes",
        [calls("ok", "0+100x360 36000+96x15"), *failed("RATE_LIMITED/requests", "0x360 0+4x15")],
        "375m",
        {SPIKE},
        {
            (firing(SPIKE), "363m"): None,
            (firing(SPIKE, severity="page", view="reliability", llm_error_class="RATE_LIMITED"), "375m"): 1,
        },
        interval="1m",
    ),
    Scenario(
        "2 % RATE_LIMITED is no spike",
        [calls("ok", "0+98x60"), *failed("RATE_LIMITED/requests", "0+2x60")],
        "20m",
        {TICKET},  # a new service has no history: its 2 % are four times the allowed rate over any window
        {(firing(PAGE), "20m"): None},
        interval="1m",
    ),
    Scenario(
        "50 fresh processes that make one call each, a RATE_LIMITED one, burn budget",
        [s for i in range(50) for s in failed("RATE_LIMITED/requests", "_x40 1 stale", instance=str(i))],
        "16m",
        {PAGE, TICKET, MODEL, SPIKE},
        {(BAD_IN_6H, "16m"): 50, ("job:llm_slo_bad:ratio1h", "16m"): 1, (BUDGET_LEFT, "12m"): -199},
    ),
    Scenario(
        "50 fresh processes that fail once among a steady stream count as 50",
        [calls("ok", "0+100x400")]
        + [s for i in range(50) for s in failed("SERVER/internal", f"_x{100 + i} 1 stale", instance=str(i))],
        "5h",
        values={(BAD_IN_6H, "5h"): 50},
        interval="1m",
    ),
    Scenario(
        "5 calls an hour with one failure stay silent",
        [calls("ok", "0x11 1x11 2x11 3x11 4x400"), *failed("SERVER/overloaded", "0x30 1x400")],
        "6h",
        interval="1m",
    ),
    Scenario(
        "no traffic stays silent",
        [calls("ok", "1000x400"), *failed("SERVER/overloaded", "0x400")],
        "6h",
        values={("job:llm_slo_bad:ratio1h", "5h"): None},
        interval="1m",
    ),
    Scenario(
        "a burn page resolves after recovery",
        [calls("ok", "0+100x360 36000+50x60 39000+100x120"), *failed("TIMEOUT/read", "0x360 0+50x60 3000x120")],
        "8h",
        {PAGE, TICKET, MODEL},
        {
            (firing(PAGE, window="1h"), "6h5m"): None,
            (firing(PAGE, window="1h"), "6h15m"): 1,
            (firing(PAGE, window="1h"), "7h7m"): None,
        },
        interval="1m",
    ),
    Scenario(
        "3 % for a day is the ticket of the day window",
        [calls("ok", "0+500x288 144000+485x288"), *failed("SERVER/internal", "0x288 0+15x288")],
        "47h",
        {TICKET},
        {(firing(TICKET, window="1d"), "47h"): 1},
        interval="5m",
    ),
    Scenario(
        "a stricter objective of one service pages it alone",
        [
            s
            for job in ("desk", "strict")
            for s in (
                calls("ok", "0+100x360 36000+96x30", job=job),
                *failed("SERVER/internal", "0x360 0+4x30", job=job),
            )
        ],
        "390m",
        {PAGE, TICKET, MODEL},
        {
            (firing(PAGE, job="strict", window="1h"), "390m"): 1,
            (firing(PAGE, job="desk"), "390m"): None,
            ('job:llm_slo_objective:ratio{job="strict"}', "1h"): 0.999,
            ('job:llm_slo_objective:ratio{job="desk"}', "1h"): 0.995,
        },
        interval="1m",
        options=Options(objectives={"strict": 99.9}),
    ),
    Scenario(
        "the budget adds events up: a bad quiet hour weighs little (a mean of ratios would say 0.0007)",
        [calls("ok", "0+1000x500 500000+9x12 500108+1000x400"), *failed("SERVER/internal", "0x500 0+1x12 12x400")],
        "3d",
        {PAGE, MODEL},
        {
            ("job:llm_slo_bad:ratio7d < bool 0.00002", "3d"): 1,
            ("sum_over_time(job:llm_slo_bad:every5m[7d:5m])", "3d"): 12,
        },
        interval="5m",
        options=Options(window_days=7),
    ),
    Scenario(
        "AUTH at one model does not hide the outage of another",
        [
            calls("ok", "0+100x60 6000x60", "anthropic/claude"),
            *failed("SERVER/overloaded", "0x60 0+100x60", "anthropic/claude"),
            calls("ok", "0+100x120", "openai/mini"),
            *failed("AUTH/invalid_key", "0x60 0+10x60"),
        ],
        "2h",
        {CREDENTIAL, PAGE, TICKET, MODEL},
        {(firing(MODEL, gen_ai_request_model="claude", gen_ai_provider_name="anthropic"), "90m"): 1},
        interval="1m",
    ),
]

SHARES_OVER_TIME = [
    Scenario(
        "TRUNCATED rising raises only a policy ticket",
        [
            calls("ok", "0+495x288 142560+400x36"),
            calls("error", "0+5x288 1440+100x36"),
            errors("TRUNCATED/max_tokens", "0+5x288 1440+100x36"),
        ],
        "27h",
        {TRUNCATED},
        {(firing(TRUNCATED, severity="ticket", view="policy", llm_error_class="TRUNCATED"), "26h"): 1},
        interval="5m",
    ),
    Scenario(
        "a steady share of blocked calls is no news once there is a week before today",
        [calls("ok", "0+450x348"), *failed("PROMPT_BLOCKED/jailbreak", "0+50x348")],
        "29h",
        since="26h",
        interval="5m",
    ),
    Scenario(
        "a model of which 60 % of the answers are cut off from its first day on is told, whatever its mean",
        [calls("ok", "0+40x348"), *failed("TRUNCATED/max_tokens", "0+60x348")],
        "29h",
        {TRUNCATED},
        {(firing(TRUNCATED), "2h"): 1, (firing(TRUNCATED), "29h"): 1},
        interval="5m",
    ),
    Scenario(
        "calls that are cancelled more often than before today are told, also if today was bad from its first hour on",
        [calls("ok", "0+490x288 141120+425x288"), calls("cancelled", "0+10x288 2880+75x288")],
        "47h",
        {CANCELLED},
        {(firing(CANCELLED), "26h"): 1, (firing(CANCELLED), "47h"): 1},
        interval="5m",
    ),
    Scenario(
        "blocked calls that rise raise only a policy ticket, per class",
        [
            calls("ok", "0+490x288 141120+425x36"),
            calls("error", "0+10x288 2880+75x36"),
            errors("PROMPT_BLOCKED/jailbreak", "0+5x288 1440+70x36"),
            errors("OUTPUT_BLOCKED/safety", "0+5x324"),
        ],
        "27h",
        {BLOCKED},
        {
            (firing(BLOCKED, severity="ticket", view="policy", llm_error_class="PROMPT_BLOCKED"), "26h"): 1,
            (firing(BLOCKED, llm_error_class="OUTPUT_BLOCKED"), "26h"): None,
        },
        interval="5m",
    ),
    Scenario(
        "cancelled calls are no valid events and raise only their own ticket",
        [calls("ok", "0+495x288 142560+400x36"), calls("cancelled", "0+5x288 1440+100x36")],
        "27h",
        {CANCELLED},
        {
            (VALID, "26h"): 400,
            (firing(CANCELLED, severity="ticket", view="reliability", gen_ai_request_model="gpt"), "26h"): 1,
        },
        interval="5m",
    ),
    Scenario(
        "UNKNOWN on every call pages although availability reads 100 %",
        failed("UNKNOWN/unexpected_body", "0+20x60"),
        "60m",
        {UNKNOWN, UNKNOWN_SHARE},
        {
            ("1 - job:llm_slo_bad:ratio1h", "60m"): 1,
            (firing(UNKNOWN_SHARE, severity="page", view="reliability"), "15m"): 1,
            (firing(UNKNOWN, severity="info", view="review"), "15m"): 1,
        },
        interval="1m",
    ),
    Scenario(
        "a few UNKNOWN go to the review only",
        [calls("ok", "0+98x60"), *failed("UNKNOWN/empty_response", "0+2x60")],
        "60m",
        {UNKNOWN},
        interval="1m",
    ),
    Scenario(
        "a service that vanished is reported after 30 minutes, an idle one is not",
        [calls("ok", "0+60x60 stale", job="gone"), calls("ok", "500x200", job="idle")],
        "180m",
        {MISSING},
        {
            (firing(MISSING), "88m"): None,
            (firing(MISSING, job="gone", severity="ticket", view="reliability"), "93m"): 1,
            (firing(MISSING, job="idle"), "180m"): None,
        },
        interval="1m",
    ),
    Scenario(
        "a threshold from the arguments replaces the shipped one",
        [calls("ok", "0+97x120"), *failed("TOOL_PROTOCOL/malformed_call", "0+3x120")],
        "2h",
        interval="1m",
        options=Options(shares=SHARES | {"TOOL_PROTOCOL": Share(5, "1h", 10)}),
    ),
]

SCENARIOS = BIRTHS + EVENTS + AVAILABILITY + SHARES_OVER_TIME


@pytest.mark.parametrize("version", ["current", "debian"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.says.replace(" ", "_"))
def test_scenario(scenario: Scenario, version: str, tmp_path) -> None:
    assert scenario.run(promtool(version), tmp_path) == ""


IN_VICTORIAMETRICS = (
    "4 % RATE_LIMITED at a model pages within 15 minutes",
    "2 % RATE_LIMITED is no spike",
    "AUTH at one model does not hide the outage of another",
    "TOOL_PROTOCOL at 4 % is a ticket",
    "no traffic stays silent",
)
"""Shares and outages. A single event is seen one evaluation later there, so the times of the other scenarios differ."""


@pytest.mark.parametrize("says", IN_VICTORIAMETRICS)
def test_victoriametrics_raises_the_same_alerts(says: str, tmp_path) -> None:
    (scenario,) = (s for s in SCENARIOS if s.says == says)
    assert scenario.run_in_victoriametrics(tool("vmalert-tool", STACK), tmp_path) == ""


@pytest.mark.parametrize("name", sorted({alert.name for alert in every_alert(Options())}))
def test_every_alert_has_a_scenario_in_which_it_fires(name: str) -> None:
    assert any(name in scenario.raises for scenario in (*SCENARIOS, *test_blindness.SCENARIOS))


@pytest.mark.parametrize("version", ["current", "debian"])
@pytest.mark.parametrize(
    "options",
    [
        Options(),
        Options(own_keys=("a", "b.c"), objectives={"x.y": 99.9}, selectors=('cluster="p"',), service_label="app"),
    ],
    ids=["shipped", "tailored"],
)
def test_promtool_accepts_the_rules(options: Options, version: str, tmp_path) -> None:
    path = tmp_path / "rules.json"
    path.write_text(json.dumps(rules.rule_file(options)))
    done = subprocess.run([promtool(version), "check", "rules", str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
