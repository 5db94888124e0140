"""Profiles: what the ranks of a job did, from a capture.

A Profile (model.py) has records of calls (recorded.py), which resolving.py
makes from a capture's tables. placement.py knows where ranks ran. findings.py
judges a profile, tables.py flattens it to rows, comparison.py compares two.
Only findings.py has thresholds.

    p = profile.load("app.8.4711.swcap")
"""

from straightway.profile.model import (
    KINDS, Exchange, Node, Profile, RankTime, RegionTime, load)

__all__ = ["KINDS", "Exchange", "Node", "Profile", "RankTime", "RegionTime",
           "load"]
