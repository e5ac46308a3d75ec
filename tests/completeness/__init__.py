"""Whether every exception, finish reason and error code that an installed SDK knows is decided by a rule.

`walking` finds what an SDK knows in its own types, `probes` make answers and errors of it, `table` says per SDK which probe
is right for which field, and `judging` lists what no rule decides. The tests run it in every environment of the matrix;
`make freshness` runs it against the newest releases.
"""
