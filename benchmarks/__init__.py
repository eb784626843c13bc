"""Speed, as ratios within one run: `make bench`, or `python -m benchmarks weights` for one part."""
