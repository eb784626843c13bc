"""How an experiment stands, for people and programs; what prints takes an `Account`, and words nothing."""
