"""Scalar mathematics: the one source of every decision.

A kernel is a plain Python function on numbers and one-dimensional arrays. It allocates nothing (the
caller provides the space), reads no file, keeps no state, draws no hidden random number and raises
nothing. That is what lets the same source run in a simulation loop, live, and uncompiled.
"""
