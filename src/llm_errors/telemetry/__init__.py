"""Records classified calls as spans, metrics and log records. One module per signal; `recorder` combines them."""
