"""Live experiments: ask which arm to pull, tell what it gave, stop with a guarantee, lose nothing.

settings      what an experiment is: arms, risk, scale, strategy, rule; fixed at its creation
  checks        what they may be
  choices       how a strategy and a rule are stored and found again
events        what happened to it: an append-only log, the only truth
state         what follows from the log, without I/O; the decision is taken here
  findings      what it rests on
store/        where the log lives: memory, SQLite, PostgreSQL
journal       keeps a state in step with its log; a change is a `Turn`, worked out first and committed then
experiment    `Experiment`: ask, tell and the rest; whatever changes something is one transaction
  shown         what it shares with one behind a server: live view, picture, report
  pulls         what is asked
  leases        who has a pull, and for how long
  values        what is told
  imports       an exported log, read back
verification  a replay of a whole log: what is intact, and does the decision follow?
accounts      where it stands, and what is promised (`promise`), as `telling` tells it
forecast      how long it will take
"""
