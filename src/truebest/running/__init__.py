"""Running arms live: one call that pulls them, shows how it goes, and returns the answer."""
