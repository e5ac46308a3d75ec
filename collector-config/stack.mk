# Included by the Makefile: the real Collector, Prometheus and Alertmanager, and the tests that run them.
PYTHON ?= python3

.PHONY: stack stack-test
stack: ## build the Collector, Prometheus and Alertmanager once (into .cache/stack/bin)
	nice bash collector-config/stack/build.sh

stack-test: stack ## run every configuration and the whole path, tested for loss
	PYTHONPATH=src $(PYTHON) -m pytest tests/stack
