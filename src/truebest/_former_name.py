"""The name of this package up to version 0.2, before anything was released.

It stands in what earlier versions stored, which is read for ever: the schema of PostgreSQL's tables, the key
from which the order of items follows, and the first words of a saved file. Nothing new is named so.
"""

FORMER_NAME = "bestarm"
