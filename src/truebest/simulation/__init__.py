"""Monte Carlo: thousands of complete runs in one seeded, parallel call.

engine    the compiled loop
job       the runs of one strategy, as a specification: any part of them can be done anywhere
pool      the runs on threads
cuda      the runs on a GPU; lanes is what it executes
cluster   the runs on a Dask cluster
gathering parts of the runs come in, the longest prefix counts
summary   what is kept of very many runs
pooling   runs of the same cells put together; continuing and saved: go on with them, keep them in a file
rewards   kinds of rewards, and values to draw from
problem   what is simulated: rewards, model, risks, stopping rule, checked
runner    simulate
threads   interruption, and a warning when no run ends
progress  how far it is
results   estimates with their errors
trace     one run step by step
plan      how many calls a decision would take, on common items and with independent samples
  planned   what it says
  scores    what it is planned with: a table, a model of items, a pilot
  rounds    the compiled loop over runs on common items
"""
