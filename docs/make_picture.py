"""A picture of a report, as the README shows it: its first HEIGHT pixels.

    make demo
    .venv/bin/python docs/make_picture.py demo.study.html docs/plots/study.png

It needs what the tests of pages need: Chromium, and websocket-client in the
environment (make test installs it).
"""

import argparse
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))

from harness.browser import Browser, installed  # noqa: E402


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("page", metavar="PAGE.html", type=pathlib.Path)
    p.add_argument("out", metavar="OUT.png", type=pathlib.Path)
    p.add_argument("--width", type=int, default=1280, help="pixels [1280]")
    p.add_argument("--height", type=int, default=850, help="pixels [850]")
    args = p.parse_args()
    if not args.page.is_file():
        p.error(f"{args.page}: there is no such file")
    if not installed():
        p.error("no Chromium was found: install it (chromium)")
    with Browser() as browser:
        page = browser.open(args.page, width=args.width, height=args.height)
        page.evaluate("document.documentElement.style.overflow = 'hidden'")
        args.out.write_bytes(page.screenshot())


if __name__ == "__main__":
    main()
