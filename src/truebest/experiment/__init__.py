"""Live experiments: ask which arm to pull, tell what it gave, stop with a guarantee, lose nothing."""
