"""Experiments behind a server: `bestarm.connect` gives the interface of `Experiment` over HTTP.

It needs nothing but the standard library, and computes nothing: the server of `bestarm serve` does.
"""
