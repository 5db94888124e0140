import pytest
from harness import nodes
from harness.programs import *
def test_alone(host):
    nodes.need()
    program = host.compile(source("reordered.c"), "-lm", "-lpthread", "-ldl")
    done = nodes.run_on_nodes(host, [2,2], [program, 1, 1, 6, "off"], placement="cyclic", timeout=60, straightway=False, left="allow", env={"OMPI_MCA_mpi_yield_when_idle": "1"})
    print(done.stdout, done.stderr); assert done.returncode==0
