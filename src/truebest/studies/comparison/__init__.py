"""Strategies on many bandits, on the same rewards: which takes the fewest samples, and how sure that is."""
