"""A program under the launcher of another MPI: each rank is alone, and one line
says why."""

import pytest

PROGRAM = """
    #include <mpi.h>
    #include <stdio.h>
    int main(int argc, char **argv)
    {
        int size;
        MPI_Init(&argc, &argv);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
        printf("a world of %d\\n", size);
        return MPI_Finalize();
    }
"""


@pytest.mark.parametrize("program, launcher", [("ompi", "mpich"),
                                               ("mpich", "ompi")])
def test_a_launcher_of_another_mpi_is_named(all_hosts, program, launcher):
    ours, theirs = ([host for host in all_hosts if host.flavour == flavour]
                    for flavour in (program, launcher))
    if not ours or not theirs:
        pytest.skip("this test takes an Open MPI and an MPICH")
    host, other = ours[-1], theirs[-1]
    line = host.program_line([host.compile(PROGRAM)])
    done = other.start([other.mpirun, *other.launcher_args, "-n", 2, *line],
                       env=host.environment())
    if done.returncode:     # MPICH 5 ends so under Open MPI 5's
        pytest.skip(f"the program refuses the launcher: {done.stderr[:200]}")
    assert done.stdout.count("a world of 1") == 2
    assert done.stderr.count("belongs to another MPI") == 1
    done = host.run(2, [host.compile(PROGRAM)], check=True)
    assert done.stdout.count("a world of 2") == 2
    assert "another MPI" not in done.stderr


def test_what_a_rank_left_in_the_environment_blames_no_launcher(host):
    """A rank's MPI takes the rank out of the environment, but may leave the
    size there for a program that the rank starts."""
    left = {"PMI_SIZE": "2", "OMPI_COMM_WORLD_SIZE": "2"}
    done = host.start(host.program_line([host.compile(PROGRAM)]),
                      env={**host.environment(), **left})
    assert done.returncode == 0 and "a world of 1" in done.stdout
    assert "another MPI" not in done.stderr
