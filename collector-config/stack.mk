# Included by the Makefile.
stack: ## build the Collector, Prometheus and Alertmanager once, into .cache/stack/bin
	@nice bash collector-config/stack/build.sh

stack-test: stack ## every configuration in its program, and the whole path tested for loss
	@$(RUN) newest
	@$(BIN)/python -m pytest tests/stack $(ARGS)
