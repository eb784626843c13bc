"""Scalar mathematics, compiled: the one source of every decision.

A kernel is a plain Python function on numbers and one-dimensional arrays. It allocates nothing (the
caller hands in the space), reads no file, keeps no state, draws no hidden random number and raises
nothing. That is what lets the same source run in a simulation loop, live, and uncompiled.

    _jit          the decorator that compiles and caches
    _cache        where machine code is kept
    weights       the optimal weights (Algorithm 4)
    exploration   the exploration-biased weights (Algorithm 1)
    glr           the generalised likelihood ratio and g
    thresholds    stopping rules and confidence widths
    tracking      ties, and which arm lies furthest behind its target
    moments       counts, sums and means of rewards
    random        rewards as a function of (seed, run, arm, n)
"""
