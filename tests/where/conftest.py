"""What tests of `straightway where` without a job share."""

import json
import stat

import pytest

from straightway import native


@pytest.fixture
def shown(tmp_path, monkeypatch):
    """Lets the native program print some Made ones."""
    program = tmp_path / "straightway-where"

    def show(*every):
        both = {"format": 1, "node": "alpha", "now": 1e9, "refused": [],
                "processes": [p for made in every for p in made.processes]}
        (tmp_path / "answer.json").write_text(json.dumps(both))
        program.write_text(
            f"#!/bin/sh\necho \"$*\" >> {tmp_path}/asked\n"
            f"cat {tmp_path}/answer.json\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setattr(native, "where_executable", lambda: program)
        return tmp_path / "asked"

    return show
