"""What the tests have shown of each SDK: which kinds of calls and failures, in which version, by which test.

`recording` notes it while tests call SDKs, `tested.json` keeps it per environment of the matrix, and `table` renders it into the
compatibility page. A test checks that the page says what the file holds, and that every test that the file names exists.
"""

import json
from pathlib import Path

DATA = Path(__file__).with_name("tested.json")

Environments = dict[str, dict[str, dict[str, object]]]
"""Environment -> distribution -> `version`, `sdk`, `dialects`, `providers`, and `shown`: trait -> the test that showed it."""


def load() -> Environments:
    """What was recorded."""
    return json.loads(DATA.read_text()) if DATA.exists() else {}


def save(found: Environments) -> None:
    """Keep it, in an order that makes small differences."""
    DATA.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
