"""The SDKs' own tests, bare and with us on: `python -m tests.suites`."""
