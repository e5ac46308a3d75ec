"""Makes `python -m llm_errors` run the command `llm-errors`."""

import sys

from llm_errors.tools.cli import main

sys.exit(main())
