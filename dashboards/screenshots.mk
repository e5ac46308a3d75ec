# Included by the Makefile.
screenshots: stack ## draw the dashboards anew, on a seeded month in a real Prometheus (needs Node 20, Chromium and the font Inter)
	@$(RUN) newest
	@PYTHON="$(CURDIR)/$(BIN)/python" bash dashboards/screenshots/take.sh
