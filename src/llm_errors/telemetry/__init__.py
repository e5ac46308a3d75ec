"""Where verdicts go: spans, counters, log records. One module per destination; `recorder` joins them."""
