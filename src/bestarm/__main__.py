"""`python -m bestarm` is the command `bestarm`."""

import sys

from .cli import main

sys.exit(main())
