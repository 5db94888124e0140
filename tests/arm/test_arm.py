"""Programs for aarch64 give under Straightway what their MPI alone gives.

They run under qemu-user, where no process copies from another (no
process_vm_readv) and the system heeds no advice about memory. So these are the
ways through shared files and in pieces. With pages of 64 KiB there is no arena
either, and the MPI serves most calls itself. An x86-64 processor keeps more
order among accesses than aarch64 demands: what depends on that is not shown.
"""

import pytest
from harness import emulated, hosts
from harness.programs import accelerated, kept_alone, run, same_logs, well

pytestmark = pytest.mark.deep
SECONDS = 400           # an emulated rank takes ten times as long, or more

# A program, its arguments, what it says at its end.
PROGRAMS = {
    "blocking": ("random_collectives", (5, 60), "calls right"),
    "large": ("random_collectives", (6, 30, "--large", "--max", 300000),
              "calls right"),
    "immediate": ("random_collectives", (21, 40, "--form", "immediate"),
                  "calls right"),
    "persistent": ("random_collectives",
                   (22, 40, "--form", "persistent", "--meet"), "calls right"),
    "messages": ("random_p2p", (3, 12), "messages right"),
    "types": ("random_types", (1, 12), "datatypes right"),
    "windows": ("random_rma", (1, 6), "all is well")}
NONBLOCKING = ["immediate", "persistent"]


@pytest.fixture(scope="session")
def mpich(_scratch):
    """MPICH for aarch64, or the reason why its programs cannot run."""
    here = [host for host in hosts.find()[0] if host.name == "mpich"]
    if not here:
        pytest.skip("no mpich in .hosts (make hosts)")
    status, said = emulated.build("straightway", "straightway-mpich")
    if status == emulated.CANNOT:
        pytest.skip(said.strip())
    assert status == 0, said
    host = emulated.Emulated("mpich", "mpich", here[0])
    host.scratch = _scratch
    return host


def same_as_alone(host, n, program, folder, **options):
    """A run of the program, whose logs are those of the host alone."""
    name, arguments, words = PROGRAMS[program]
    kept = kept_alone(host, n, name, arguments, words, timeout=SECONDS)
    done = well(run(host, n, name, *arguments, "--log", folder / "log",
                    timeout=SECONDS, **options), words)
    # They end in any order.
    same_logs(kept, folder, n, ordered=program not in NONBLOCKING)
    return done


@pytest.mark.parametrize("n, show", [(2, "lazy"), (3, "off"), (3, "eager")])
@pytest.mark.parametrize("program", PROGRAMS)
def test_aarch64_programs_give_the_hosts_bytes(mpich, n, show, program,
                                               tmp_path):
    done = same_as_alone(mpich, n, program, tmp_path, env={
        "STRAIGHTWAY_SHOW": show, "STRAIGHTWAY_P2P": "on",
        "STRAIGHTWAY_P2P_MIN": 192})
    if "calls" in PROGRAMS[program][2]:
        served, calls = accelerated(done, program in NONBLOCKING)
        assert served >= calls / 2 > 0
    elif program == "messages":
        assert "messages moved" in done.stderr


@pytest.mark.parametrize("program", PROGRAMS)
def test_pages_of_64_kib_leave_the_hosts_bytes(mpich, program, tmp_path):
    done = same_as_alone(mpich, 2, program, tmp_path,
                         run_args=["-p", "65536"])
    assert "pages are of 64 KiB" in done.stderr
