"""Commands: a module for each, and a folder for those below `bench`.

A command is a class. Its docstring is its help, `arguments(parser)` declares
its options, and `run(options)` returns the exit status.
"""

from straightway.commands.bench import Bench
from straightway.commands.diff import Diff
from straightway.commands.doctor import Doctor
from straightway.commands.map import Map
from straightway.commands.merge import Merge
from straightway.commands.report import Report
from straightway.commands.study import Study
from straightway.commands.whatif import WhatIf

COMMANDS = (Doctor, Bench, Report, Diff, Merge, WhatIf, Map, Study)
