"""One module per subcommand."""

from straightway.commands.bench import Bench
from straightway.commands.doctor import Doctor

COMMANDS = (Doctor, Bench)
