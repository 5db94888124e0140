"""What-if: a program in virtual time, and its operations timed again.

One run of the program (programs.py) under the baseline's model records what
its ranks do; every experiment (experiments.py) is that record, timed by another
model (supposed.py), in seconds and without the program. runs.py starts all of
it, outcomes.py reads what comes out, forecast.py makes one report of it.

Models come from presets and files (models/), or from what this machine was
measured to do (measured.py). Traces and other tools' files become operations,
too (operations.py).
"""
