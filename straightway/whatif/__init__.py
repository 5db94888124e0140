"""What-if: a program in virtual time, and replays of its operations.

One run of the program (programs.py) under the baseline's model records what
its ranks do. Every experiment (experiments.py) replays this record under
another model (supposed.py), in seconds and without the program. runs.py starts
all of this, outcomes.py reads the results, forecast.py makes one report of
them.

Models come from presets and files (models/), or from measurements of this
machine (measured.py). operations.py turns traces and other tools' files into
operations.
"""
