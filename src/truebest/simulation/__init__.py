"""Monte Carlo: thousands of complete runs in one seeded, parallel call.

simulate  the call itself
problem   what is simulated: rewards, model, risks, stopping rule, checked
rewards   kinds of rewards, and values to draw from
job       the runs of one strategy, as a specification: any part of them can be done anywhere
engine    the compiled loop
threads   the runs on threads, which Ctrl-C interrupts
cuda      the runs on a GPU; lanes is what it executes
cluster   the runs on a Dask cluster
runs      parts of them come in, go on from earlier ones, are put together, and kept in a file
summary   what is kept of very many runs
progress  how far it is
results   estimates with their errors
trace     one run step by step
plan      how many calls a decision would take, on common items and with independent samples
  planned   what it says
  scores    what it is planned with: a table, a model of items, a pilot
  rounds    the compiled loop over runs on common items
"""
