"""What observing costs, as ratios: `python -m tests.bench` exits 1 when a target is missed."""
