"""Live experiments: ask which arm to pull, tell what it gave, stop with a guarantee, lose nothing.

settings     what an experiment is: arms, risk, scale, strategy, rule; fixed at its creation
events       what happened to it: an append-only log, the only truth
state        what follows from the log, without I/O; the decision is taken here
store/       where the log lives: memory, SQLite, PostgreSQL
experiment   `Experiment`: ask, tell and the rest, each one transaction (`turn`) on a store
status       what people see: where it stands; `forecast`: how long it will take
identify     one call: `run` the arms, show the progress (`view`, `frame`), return the `result`
"""
