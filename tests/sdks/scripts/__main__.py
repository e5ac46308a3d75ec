"""The application: makes every call of a script. Its own code knows nothing of instrumentation."""

import asyncio
import inspect
import sys
from contextlib import suppress
from typing import Any

from tests.sdks.scripts.table import SCRIPTS


async def _each(made: Any) -> Any:
    made = await made if inspect.isawaitable(made) else made
    return [part async for part in made] if hasattr(made, "__aiter__") else made


def main(name: str, url: str) -> None:
    """Call, and read each stream to its end. What is raised is of no concern here."""
    script = SCRIPTS[name]
    client = script.client(url)
    for step in script.steps:
        with suppress(Exception):
            made = step.call(client, step.name)
            if inspect.isawaitable(made):
                asyncio.run(_each(made))
            elif hasattr(made, "__next__") or hasattr(made, "__iter__"):
                list(made)


if __name__ == "__main__":
    main(*sys.argv[1:])
