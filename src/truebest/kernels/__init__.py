"""Scalar mathematics: the one source of every decision.

A kernel is a plain Python function on numbers and one-dimensional arrays. It allocates nothing (the
caller provides the space), reads no file, keeps no state, draws no hidden random number and raises
nothing. That is what lets the same source run in a simulation loop, live, and uncompiled.

    _jit          the decorator that makes a kernel of a function
    _compiler     its machine code; all that reaches into Numba
    _cache        where machine code is kept
    _known        a kernel made for one model and rule
    _beside       when kernels that run uncompiled give way to compiled ones
    _numba        whether there is Numba, and what is said while it compiles
    _warm         what to compile beforehand
    layout        the rows of a run's state, the places in its parameters, the code of an action
    families      models of values: means, and what it costs to mistake one arm for another
    questions     what is asked: which claims help, which arms are done with, what is answered
    claims        claims about pairs of independent arms: what is proven, who rests
    round_claims  the same in rounds
    rules         stopping rules: the statistic of a pair, thresholds; a file for each, and the switch
    best          the leader against each other arm: whether it is decided, and on which arm
    settling      arms that a pair rules out, for strategies that sample open arms only
    decision      a value arrives: the model takes it in, the rule decides
    steps         one run: begin, then step by step
    noiseless     how a run would continue if every reward equalled its arm's mean
    weights       the optimal weights (Algorithm 4)
    exploration   the exploration-biased weights (Algorithm 1)
    glr           the generalised likelihood ratio, in batches
    widths        confidence widths of one arm
    tracking      ties, leaders, and which arm lies furthest behind its target
    extremes      the largest and least of many numbers
    exact         sums and products with their rounding errors
    random        rewards as a function of (seed, run, arm, n)
"""
