"""Experiments behind a server: `truebest.connect` gives the interface of `Experiment` over HTTP.

It needs nothing but the standard library, and computes nothing: the server of `truebest serve` does.
"""
