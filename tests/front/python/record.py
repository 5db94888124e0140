"""Run mpi4py's own tests on one rank and write down how each ended.

    record.py TESTDIR RECORDS [options of mpi4py's main.py ...]

Each rank appends to RECORDS/<process id> one JSON line when a test begins and
one when it ends, unbuffered: where a rank crashes or hangs, its last line
names the test. Only those that fail are told apart; what passes is counted.
"""

import json
import os
import pathlib
import sys
import unittest


def results_into(path):
    """A unittest result class that also records into a file."""
    out = open(path, "a", buffering=1)

    def say(test, event):
        out.write(json.dumps([test.id(), event]) + "\n")

    class Result(unittest.TextTestResult):
        def startTest(self, test):
            say(test, "begun")
            super().startTest(test)

        def addSuccess(self, test):
            say(test, "passed")
            super().addSuccess(test)

        def addSkip(self, test, reason):
            say(test, "skipped")
            super().addSkip(test, reason)

        def addFailure(self, test, err):
            say(test, "failed")
            super().addFailure(test, err)

        def addError(self, test, err):
            # Errors in setUpClass come with a stand-in for the test.
            say(test, "failed")
            super().addError(test, err)

        def addSubTest(self, test, subtest, err):
            if err is not None:
                say(test, "failed")
            super().addSubTest(test, subtest, err)

        def addExpectedFailure(self, test, err):
            say(test, "passed")
            super().addExpectedFailure(test, err)

        def addUnexpectedSuccess(self, test):
            say(test, "failed")
            super().addUnexpectedSuccess(test)

    return Result


def main():
    tests, records = sys.argv[1:3]
    sys.dont_write_bytecode = True
    sys.path.insert(0, tests)
    sys.argv[:] = [str(pathlib.Path(tests, "main.py")), *sys.argv[3:]]
    import main as suite
    runner = unittest.TextTestRunner
    runner.resultclass = results_into(pathlib.Path(records, str(os.getpid())))
    suite.main(module=None)


if __name__ == "__main__":
    main()
