"""Running arms live: one call that pulls them, shows how it goes, and returns the answer.

identify  `identify` and `aidentify`: start pulls and wait for them
gate      the same of an old one and new ones, or of one and a number: `gate` and `check`
run       what both share: budgets, pulls under way, what becomes of an outcome
heart     renews the leases of pulls while a run lives
result    what they return
race      `race`: rounds of measurements, until the fastest is proven; `standings` is what it returns
view      whether, where and how often to show a run
frame     one moment of it: its `arms` as lines for a `terminal` or as a `page` for a notebook
"""
