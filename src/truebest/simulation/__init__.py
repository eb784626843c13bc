"""Monte Carlo: thousands of complete runs in one seeded, parallel call.

simulate  the call itself
problem   what is simulated: rewards, model, risks, stopping rule, checked
rewards   kinds of rewards, and values to draw from
work      a call, and the runs that a design makes of it: any part of them can be done anywhere
job       those of a strategy on independent samples; engine is the compiled loop
on_items  those on common items, checked; rounds is the compiled loop
scores    what these, and a plan, are made on: a table, a model of items, a pilot
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
"""
