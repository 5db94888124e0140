"""What the profiler sees of Python is what Python says of itself.

    lines.py LIBRARY DEPTH gil|no-gil FOLDER

Run by test_sites.py under each Python that is found; imports nothing
but the standard library.
"""

import asyncio
import ctypes
import dis
import random
import sys
import threading
import types
from functools import reduce
from pathlib import Path

library, depth = sys.argv[1], int(sys.argv[2])
with_gil = ctypes.PyDLL(library)
without = ctypes.CDLL(library)
first = (with_gil if sys.argv[3] == "gil" else without).call
with_gil.line_at.restype = ctypes.c_uint32
with_gil.line_at.argtypes = [ctypes.py_object, ctypes.c_int64]
with_gil.text_of.argtypes = [ctypes.py_object, ctypes.c_char_p, ctypes.c_int]
without.cost.restype = ctypes.c_double
assert without.sw_site_depth(depth)
checked = 0


def seen(site):
    found = []
    buffer = ctypes.create_string_buffer(6000)
    while with_gil.line(site, len(found), buffer, 6000):
        file, function, line = buffer.value.decode().split("\n")
        found.append((file, function, int(line)))
    return found


def true():
    """The frames of the caller."""
    found, frame = [], sys._getframe(1)
    while frame and len(found) < depth:
        code = frame.f_code
        if not code.co_filename.startswith("<frozen importlib._bootstrap"):
            found.append((code.co_filename,
                          getattr(code, "co_qualname", code.co_name),
                          frame.f_lineno))
        frame = frame.f_back
    return found


def check(call):
    global checked
    site, says = call(), true()
    assert seen(site) == says, (seen(site), says)
    again, says = call(), true()
    assert seen(again) == says, (seen(again), says)
    checked += 1


class Solver:
    def step(self, call):
        check(call)

    @property
    def norm(self):
        check(without.call)

    @staticmethod
    def nested(call):
        class Inner:
            check(call)

            def __call__(self):
                check(call)
        Inner()()


def generator(call):
    check(call)
    yield 1
    check(call)
    yield from generator_below(call)


def generator_below(call):
    yield check(call)


async def task(call):
    check(call)
    await asyncio.sleep(0)
    check(call)


async def tasks(call):
    await asyncio.gather(task(call), task(call))


def recursive(n, call):
    if n:
        recursive(n - 1, call)
    else:
        check(call)


def wandering(n, call, rng):
    """A random tree of calls."""
    how = rng.randrange(7)
    if n == 0:
        check(call)
    elif how == 0:
        wandering(n - 1, call, rng)
    elif how == 1:
        [wandering(n - 1, call, rng) for _ in range(1)]
    elif how == 2:
        sorted([1, 2], key=lambda x: wandering(n - 1, call, rng) or x)
    elif how == 3:
        # map is native: a frame of C lies between those of Python.
        list(map(lambda x: wandering(n - 1, call, rng), [1]))  # noqa: C417
    elif how == 4:
        reduce(lambda a, b: wandering(n - 1, call, rng), [1, 2])
    elif how == 5:
        try:
            raise ValueError(n)
        except ValueError:
            wandering(
                n - 1,
                call,
                rng)
    else:
        sum(wandering(n - 1, call, rng) or 0 for _ in range(2))


def made(call):
    """Code that comes and goes, at the same addresses."""
    for n in range(300):
        names = {"check": check, "call": call}
        exec(compile("\n" * n + "check(call)", f"made{n % 7}.py", "exec"),
             names)
        exec(compile(f"def f{n % 3}(x):\n  y = [1,\n{chr(10) * (n % 9)}  "
                     f"check(x)]\n  return y\nf{n % 3}(call)",
                     f"mäde{n % 4}\u20ac.py", "exec"), names)
    large = "def large(call):\n" + "".join(
        f"  v{i} = {i}\n" for i in range(3000)) + "  check(call)\n"
    names = {"check": check}
    exec(compile(large, "\U0001d11e.py", "exec"), names)
    names["large"](call)


def imported(folder, call):
    """The machinery of import is not shown."""
    types.called = lambda: check(call)
    (folder / "imported_by_lines.py").write_text(
        "import types\n\ntypes.called()\n")
    sys.path.insert(0, str(folder))
    sys.modules.pop("imported_by_lines", None)
    import imported_by_lines  # noqa: F401


def in_threads(call):
    failed = []

    def run():
        try:
            recursive(2, call)
            list(generator(call))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed


def all_code(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from all_code(constant)


def tables():
    """The tables of lines of a part of the standard library."""
    count = 0
    for path in sorted(Path(asyncio.__file__).parent.parent.glob("*.py"))[:25]:
        try:
            module = compile(path.read_bytes(), str(path), "exec")
        except (SyntaxError, UnicodeDecodeError):
            continue
        for code in all_code(module):
            lines = {}
            if hasattr(code, "co_lines"):
                for start, end, line in code.co_lines():
                    for at in range(start, end, 2):
                        lines[at] = line or 0
            else:
                starts = dict(dis.findlinestarts(code))
                line = code.co_firstlineno
                for at in range(0, len(code.co_code), 2):
                    line = starts.get(at, line)
                    lines[at] = line
            for at, line in lines.items():
                found = with_gil.line_at(code, at)
                assert found == line, (path, code.co_name, at, found, line)
                count += 1
    assert count > 10000, count


def texts():
    rng = random.Random(1)
    buffer = ctypes.create_string_buffer(3000)
    for top in (0x7f, 0xff, 0xffff, 0x10ffff):
        for n in list(range(20)) + [100, 600]:
            text = "".join(chr(c) for c in (rng.randint(1, top)
                                            for _ in range(n))
                           if not 0xd800 <= c < 0xe000)
            with_gil.text_of(text, buffer, 3000)
            assert buffer.value.decode() == text
    with_gil.text_of("a\udc80b", buffer, 3000)
    assert buffer.value.decode() == "a\ufffdb"
    n = with_gil.text_of("\u20ac" * 2000, buffer, 3000)
    assert 2990 <= n < 3000 and buffer.value.decode() == "\u20ac" * (n // 3)


def main(folder):
    check(first)
    assert without.python_state() == 2, without.python_state()
    for call in (first, without.call, with_gil.call):
        check(call)
        recursive(5, call)
        recursive(40, call)
        solver = Solver()
        solver.step(call)
        solver.nested(call)
        assert solver.norm is None
        list(generator(call))
        asyncio.run(tasks(call))
        made(call)
        imported(folder, call)
        in_threads(call)
        rng = random.Random(depth)
        for _ in range(200):
            wandering(rng.randrange(12), call, rng)
    back = ctypes.CFUNCTYPE(ctypes.c_uint32)(without.call)
    site, says = without.through(back), true()
    assert seen(site) == says
    if depth == 1:
        tables()
        texts()
    print(f"{checked} sites as they should be; a site takes "
          f"{without.cost():.0f} ns")


main(Path(sys.argv[4]))
