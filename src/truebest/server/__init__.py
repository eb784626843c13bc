"""The page and the service of `truebest serve`: experiments of a store, over HTTP.

It uses the public interface of `Experiment` and of stores, computes no statistics, and decides nothing.
"""
