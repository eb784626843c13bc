"""Monte Carlo: thousands of complete runs in one seeded, parallel call."""
