"""The page and the service of `truebest serve`: experiments of a store, over HTTP.

    run       listens, prints where and with which token, ends cleanly
    app       which addresses there are: `writes` change an experiment, `reads` read it, `pages` are for
              people; `requests` says what they are sent
    quick     the shortest way for the two calls that come most often
    connections  are closed if a request does not come
    way       how it is reached: names, a prefix, a proxy that is believed
    guard     who may: Host, Origin, tokens (`tokens`), sizes and rates (`limits`), and the headers of answers
    desks     the experiments that are in use, one object each; calls that wait for each other are made as one
    live      follows an experiment once for all who watch it
    views     what the page shows of an experiment: numbers and sentences that `Experiment` gives, no others
    problems  errors, with the same sentences as everywhere

It uses the public interface of `Experiment` and of stores, computes no statistics, and decides nothing.
"""
