"""Programs that never communicate, with and without Straightway, in turns.

    .venv/bin/python bench/heap.py [ROUNDS]

Compiles bench/heap.c and prints for each of its programs the medians and the
ratio (without / with: 1.00 is the same, above 1 is faster with Straightway),
with the quartiles of the pairwise ratios, and how huge pages stand.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
PREFIX = pathlib.Path(sys.prefix)


def huge(name):
    path = pathlib.Path("/sys/kernel/mm/transparent_hugepage") / name
    try:
        return path.read_text().split("[")[1].split("]")[0]
    except (OSError, IndexError):
        return "unknown"


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    library = os.environ.get(
        "STRAIGHTWAY_LIB", PREFIX / "lib/straightway/libstraightway.so")
    print(f"huge pages: anonymous {huge('enabled')}, "
          f"shared {huge('shmem_enabled')}; {rounds} pairs")
    print(f"{'':8}{'without':>10}{'with':>10}{'ratio':>8}   quartiles")
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "heap"
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-pthread", "-o",
                        program, HERE / "heap.c"], check=True)
        for what in ("touch", "walk", "triad", "storm"):
            times = {"": [], str(library): []}
            for _ in range(rounds):
                for preload, list_ in times.items():
                    out = subprocess.run(
                        [program, what], check=True, capture_output=True,
                        text=True, env=dict(os.environ, LD_PRELOAD=preload))
                    list_.append(float(out.stdout))
            without, with_us = times.values()
            ratios = sorted(a / b for a, b in zip(without, with_us))
            low, _, high = statistics.quantiles(ratios, n=4)
            print(f"{what:8}{statistics.median(without):9.3f}s"
                  f"{statistics.median(with_us):9.3f}s"
                  f"{statistics.median(ratios):8.2f}   {low:.2f} .. {high:.2f}")


if __name__ == "__main__":
    main()
