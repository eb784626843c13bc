"""Every property test is deterministic: the same examples on every machine and in every run."""

from hypothesis import settings

from support.postgres import postgres_server, postgres_url

__all__ = ["postgres_server", "postgres_url"]

settings.register_profile("truebest", deadline=None, derandomize=True, max_examples=200)
settings.load_profile("truebest")
