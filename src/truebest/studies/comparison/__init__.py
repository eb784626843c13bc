"""Strategies on many bandits, all on the same rewards: which takes the fewest samples, and how sure that is.

suites      the bandits: built in, drawn at random, or from a file
compare     the call itself
statistics  ratios with paired errors
stability   how much targets and pulls move
results     what a comparison found
tables      the same for people
profile     the same as a picture
page        the same as one HTML page
"""
