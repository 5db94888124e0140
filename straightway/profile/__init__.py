"""Profiles: what the ranks of a job did, made of a capture.

A Profile (model.py) has records of calls (recorded.py), made of a capture's
tables (resolving.py). findings.py judges one, tables.py flattens it to rows,
comparison.py sets two side by side. Only findings.py has thresholds.

    p = profile.load("app.8.4711.swcap")
"""

from straightway.profile.model import (
    KINDS, Exchange, Node, Profile, RankTime, RegionTime, load)

__all__ = ["KINDS", "Exchange", "Node", "Profile", "RankTime", "RegionTime",
           "load"]
