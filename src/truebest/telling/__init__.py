"""How an experiment stands, for people and programs; what prints takes an `Account`, and words nothing.

answers   what was found, or why nothing was
standings what an account consists of besides: a row per arm, what is promised, how far it is
account   all of it: `Account`
numbers   how numbers and intervals are written
words     every sentence about an experiment
columns   the one table of arms, as text, Markdown, HTML, records
drawing   which arms are shown, and on which axis, where there is little room
plain     records for JSON, and back
"""
