"""One incident is one page: what a real Alertmanager sends for the shipped rules and routes, with time 30 times faster."""

from pathlib import Path

import pytest
from incidents import FAILING_MINUTES, INCIDENTS, SERVICES, Notification, faster, faster_expression, watched

GOOD_MINUTES, WATCHED_MINUTES, FACTOR = 15, 45, 30

every_service = pytest.mark.parametrize("service", SERVICES)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> list[Notification]:
    """Everything that was sent from the first failure until 35 minutes after the repair."""
    folder: Path = tmp_path_factory.mktemp("incidents")
    return watched(FACTOR, GOOD_MINUTES, WATCHED_MINUTES, folder).received


def pages(told: list[Notification], service: str, *, over: bool = False) -> list[Notification]:
    return [one for one in told if one.service == service and one.is_page and one.is_over is over]


@every_service
def test_an_incident_is_one_page_for_each_service(service: str, told: list[Notification]) -> None:
    assert len(pages(told, service)) == 1, told


@every_service
def test_the_page_comes_within_four_minutes(service: str, told: list[Notification]) -> None:
    assert 0 < pages(told, service)[0].minute <= 4


@every_service
def test_it_is_over_once_and_after_the_repair(service: str, told: list[Notification]) -> None:
    (over,) = pages(told, service, over=True)
    assert over.minute > FAILING_MINUTES


@every_service
def test_an_incident_is_two_tickets_at_most(service: str, told: list[Notification]) -> None:
    assert len([one for one in told if one.service == service and not one.is_page]) <= 2


@pytest.mark.parametrize(
    ("incident", "receiver"), list(zip(INCIDENTS, ["page-platform"] * 2 + ["page-owning-team"] * 2, strict=True))
)
def test_it_is_told_to_who_can_end_it(incident: str, receiver: str, told: list[Notification]) -> None:
    assert {one.receiver for place in "ab" for one in pages(told, f"{incident}/{place}")} == {receiver}


def test_durations_are_divided_wherever_they_stand() -> None:
    assert faster("1h", 60) == "60000ms"
    found = faster_expression("sum_over_time(a:ratio5m[6h:1m]) > b[5m] offset 1s and c", 60)
    assert found == "sum_over_time(a:ratio5m[360000ms:1000ms]) > b[5000ms] offset 17ms and c"
