"""Study: what communication costs a program, the gain that Straightway is
predicted to have, and the measured gain.

The study has three steps (steps.py), figures (figures.py), what it says of them
(sentences.py), and sections on call sites, places and one-sided calls. The
steps are:

    1. the program in virtual time, under the model `measured`: the MPI alone.
       This comes first, because it detects a deadlock, in which a normal run
       hangs
    2. its operations again, under `measured-straightway`: the prediction; and
       the bounds, as of every forecast
    3. the program in one run, in which Straightway goes off and on (turns.py).
       Pairs of these epochs give the gain with an interval (estimate.py), and
       gains.py has all figures of it. Where turns cannot tell, separate runs
       alternate, alone and with Straightway. Each run has a profile, and the
       first one is the report's; times count from MPI_Init to MPI_Finalize,
       less the cost of recording

Where the program calls nonblocking collectives, it also has separate runs with
Straightway for all but these ("left"). That shows their part of the gain, and
replays predict this part.

The prediction does not use the measured gain: the models come from earlier
benchmarks of single operations, and the computation's time from the
processor's clock.
"""

from straightway.study.sentences import verdict
from straightway.study.steps import SCHEMA, TITLES, Study

__all__ = ["SCHEMA", "TITLES", "Study", "verdict"]
