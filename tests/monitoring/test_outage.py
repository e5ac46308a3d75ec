"""How fast an outage pages, and how often: one page for an outage, also when it comes and goes."""

import pytest
from artifact_tools import promtool
from promtool_scenario import Scenario, begins, calls, errors, failed, firing

PAGE, TICKET, MODEL = "LLMAvailabilityBurnPage", "LLMAvailabilityBurnTicket", "LLMModelBurnTicket"
STEADY = "0+10x480"  # two hours of 40 calls a minute


def waves(number: int) -> list[dict[str, str]]:
    """At one sample each 30 s: after two hours of good traffic, 6 minutes in which 6 of 10 calls fail, then 6 in which
    none does."""
    ok = "0+20x240 " + " ".join(f"{4800 + i * 336}+8x11 {4896 + i * 336}+20x11" for i in range(number))
    bad = "0x240 " + " ".join(f"{i * 144}+12x11 {(i + 1) * 144}x11" for i in range(number))
    return [calls("ok", ok), calls("error", bad), errors("SERVER/overloaded", bad)]


SCENARIOS = [
    Scenario(
        "a total outage of a tenth of a call a second pages within four minutes",
        [calls("ok", "0+1x480 480x60"), *failed("TIMEOUT/read", "0x480 0+1x60")],
        "130m",
        {PAGE, TICKET, MODEL},
        {(firing(PAGE), "119m"): None, (firing(PAGE, window="3m"), "124m"): 1},
    ),
    Scenario(
        "half of the calls is no total outage",
        [calls("ok", "0+10x480 4800+5x40"), *failed("SERVER/internal", "0x480 0+5x40")],
        "126m",
        {TICKET},
        {(firing(PAGE), "126m"): None},
    ),
    Scenario(
        "nine failures are too few for the tier of three minutes",
        [calls("ok", STEADY + " 4800x40"), *failed("SERVER/internal", "0x480 1 2 3 4 5 6 7 8 9x33")],
        "128m",
        values={(firing(PAGE), "128m"): None},
    ),
    Scenario(
        "blocked calls are no valid calls of the three minutes either",
        [
            calls("ok", STEADY + " 4800x40"),
            calls("error", "0x480 0+10x40"),
            errors("PROMPT_BLOCKED/safety", "0x480 0+8x40"),
            errors("SERVER/internal", "0x480 0+2x40"),
        ],
        "125m",
        {PAGE},
        {("job:llm_slo_valid:count3m", "124m"): 24, ("job:llm_slo_bad:ratio3m", "124m"): 1},
    ),
    Scenario(
        "fresh processes that fail once each count in the three minutes",
        [s for i in range(20) for s in failed("SERVER/internal", f"_x{480 + i} 1 stale", instance=str(i))]
        + [calls("ok", "0+1x480 480x60")],
        "126m",
        {PAGE, TICKET},
        {(firing(PAGE, window="3m"), "123m"): 1},
    ),
    Scenario(
        "waves of failures are one page: nothing that fires begins anew for three hours",
        waves(15),
        "299m",
        {PAGE, TICKET, MODEL},
        {
            (f"{begins(PAGE, '179m')} <= 2", "299m"): 1,
            (firing(PAGE, window="3m"), "295m"): 1,
        },
        interval="30s",
    ),
    Scenario(
        "slower windows begin to page when no faster one does",
        [calls("ok", "0+100x360 36000+80x60"), *failed("SERVER/internal", "0x360 0+20x60")],
        "7h",
        {PAGE, TICKET, MODEL},
        {(firing(PAGE, window="3m"), "7h"): None, (firing(PAGE, window="1h"), "6h30m"): 1},
        interval="1m",
    ),
]


@pytest.mark.parametrize("version", ["current", "debian"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.says.replace(" ", "_"))
def test_scenario(scenario: Scenario, version: str, tmp_path) -> None:
    assert scenario.run(promtool(version), tmp_path) == ""
