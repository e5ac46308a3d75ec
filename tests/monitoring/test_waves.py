"""An outage that comes and goes for three hours is one page, as a real Alertmanager sends it, with time 60 times faster."""

import pytest
from incidents import CALLS_A_MINUTE, Notification, World, counters, watched

GOOD_MINUTES, HOURS, FACTOR = 15, 3, 60
WAVE_MINUTES, FAILING_SHARE = 6, 0.6
SERVICE = "outage/waves"


class Waves(World):
    """One service: 6 minutes in which 6 of 10 calls fail, then 6 in which none does, again and again."""

    def metrics(self) -> str:
        minute = max(0.0, self.minute)
        whole, rest = divmod(minute, 2 * WAVE_MINUTES)
        failing = whole * WAVE_MINUTES + min(rest, WAVE_MINUTES)
        failed = int(failing * FAILING_SHARE * CALLS_A_MINUTE)
        all_calls = int((self.minute + self.good_minutes) * CALLS_A_MINUTE)
        return "\n".join(counters(SERVICE, all_calls - failed, failed)) + "\n"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Notification]:
    told = watched(FACTOR, GOOD_MINUTES, 60 * HOURS, tmp_path_factory.mktemp("waves"), Waves).received
    return [one for one in told if one.is_page]


def test_three_hours_of_waves_send_one_firing_page_notification_or_two(pages: list[Notification]) -> None:
    assert 1 <= len([one for one in pages if not one.is_over]) <= 2, pages


def test_the_page_is_not_over_while_waves_come(pages: list[Notification]) -> None:
    assert not [one for one in pages if one.is_over]
