"""Write the manual pages and the completion of an installation:

    make.py FOLDER --version V --program BIN/straightway

FOLDER is what a prefix has as share/. The build calls this, and no commit has
its files: they say what the command says. The pages bear the date that
SOURCE_DATE_EPOCH gives, else none, so that two builds write the same bytes.
"""

import argparse
import datetime
import os
import pathlib
import shutil
import sys

import completion
import headers
import pages
import tree

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ("straightway.h", "straightway_mpi.h")


def read_tree(program):
    """The tree; without `run` and `profile` where the program cannot run."""
    try:
        return tree.read(program)
    except OSError as why:
        print("Manual pages of straightway run and profile: NONE, since "
              f"{program} does not run here: {why.strerror}")
        return tree.read(None)


def family(command, root):
    """What a page refers to: the command above, and those beside it."""
    above = root
    for one in root:
        if command in one.below:
            above = one
    return [above, *above.below] if above is not root else [root, *root.below]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def write_pages(folder, root, date, version):
    for command in root:
        write(folder / "man" / "man1" / f"{command.page}.1",
              pages.render(command, family(command, root), date, version))
    for name in HEADERS:
        page, calls = headers.render(
            name, (ROOT / "include" / name).read_text(), date, version)
        write(folder / "man" / "man3" / f"{name}.3", page)
        for call in calls:
            write(folder / "man" / "man3" / f"{call}.3",
                  f".so man3/{name}.3\n")


def write_completion(folder, root):
    written = completion.scripts(root)
    for shell, place in completion.PLACES.items():
        if shell in written:
            write(folder / place, written[shell])
        else:
            print(f"Completion for {shell}: NONE; this shtab is too old")


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--version", required=True)
    parser.add_argument("--program", required=True)
    options = parser.parse_args(argv)
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    date = datetime.datetime.fromtimestamp(
        int(epoch), datetime.timezone.utc).date().isoformat() if epoch else ""
    shutil.rmtree(options.folder, ignore_errors=True)
    os.environ["COLUMNS"] = "80"        # argparse breaks lines by it
    root = read_tree(options.program)
    write_pages(options.folder, root, date, options.version)
    write_completion(options.folder, root)


if __name__ == "__main__":
    main(sys.argv[1:])
