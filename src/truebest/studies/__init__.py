"""Studies made with the package. Nothing else in it imports them but the public functions and the command.

paper       the paper, reproduced
comparison  strategies on many bandits
certified   how often answers are wrong, over strategies, models and rules
ledger      long work in parts, so that an interrupted call resumes
"""
