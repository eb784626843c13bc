"""The paper's quantities for people: NumPy in, small frozen dataclasses out, arguments checked on entry.

complexity    w(μ), T(μ), the lower bound, the bounds of Proposition 10
exploration   exploration-biased weights and their candidates (Algorithm 1)
statistics    the statistic Z, the function g, confidence widths
stopping      stopping rules, proven and practical
guarantees    Theorems 5 and 14 as numbers
"""
