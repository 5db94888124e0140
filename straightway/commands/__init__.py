"""One module per subcommand."""

from straightway.commands.bench import Bench
from straightway.commands.diff import Diff
from straightway.commands.doctor import Doctor
from straightway.commands.merge import Merge
from straightway.commands.report import Report
from straightway.commands.study import Study
from straightway.commands.whatif import WhatIf

COMMANDS = (Doctor, Bench, Report, Diff, Merge, WhatIf, Study)
