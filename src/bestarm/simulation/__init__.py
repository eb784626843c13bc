"""Monte Carlo: thousands of complete runs in one seeded, parallel call.

engine    the compiled loop
rewards   kinds of rewards, and values to draw from
problem   what is simulated: rewards, model, risks, stopping rule, checked
runner    the runs, shared out to threads
threads   interruption, and a warning when no run ends
progress  how far it is
results   estimates with their errors
trace     one run step by step
"""
