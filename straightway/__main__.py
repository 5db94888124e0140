"""python -m straightway: the same as the command."""

import sys

from straightway.cli import main

sys.exit(main())
