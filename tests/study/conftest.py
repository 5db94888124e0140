"""What tests of the study need: runs without a machine."""

import pytest
from harness import captures
from harness import whatif_standin as standin
from harness.calibrations import calibration
from straightway import profile
from straightway.machine import hardware as machine
from straightway.machine import hosts
from straightway.study import computing
from straightway.whatif import measured
from straightway.whatif import runs as whatif


@pytest.fixture
def runner(monkeypatch, tmp_path):
    """Everything is as it is but the native parts and the machine."""
    monkeypatch.delenv("COLUMNS", raising=False)
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    capture = captures.halo(2).write(tmp_path / "app.swcap")
    made = []

    def new(*arguments):
        one = standin.Runner(*arguments)
        one.profile = profile.load(capture)
        made.append(one)
        return one

    new.made = made
    monkeypatch.setattr(whatif, "Runner", new)
    host = hosts.Host("libmpi.so.40", "ompi", "mpiexec", "",
                      "Open MPI v5.0.11")
    monkeypatch.setattr(measured, "host_of", lambda job, ranks: host)
    monkeypatch.setattr(measured, "load", lambda *_: calibration())
    monkeypatch.setattr(machine, "cores", lambda: 2)
    # The capture is another program's.
    monkeypatch.setattr(computing, "of", lambda p: standin.COMPUTE)
    return new
