"""A headless Chromium, driven by its DevTools protocol.

    with Browser() as browser:
        page = browser.open(path, width=390, dark=True)
        page.evaluate("document.title")
        page.click("#theme")
        assert not page.complaints

Reports are made to be opened from a disk: pages are files.
"""

import base64
import contextlib
import json
import pathlib
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import urllib.request
import zlib

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
_OPTIONS = """--headless=new --no-sandbox --disable-gpu --disable-quic
    --no-first-run --disable-background-networking --disable-component-update
    --disable-sync --disable-dev-shm-usage --remote-debugging-port=0
    --remote-allow-origins=* about:blank""".split()
_PATIENCE = 60
_KEYS = {"Enter": 13, "ArrowDown": 40, "ArrowRight": 39, "Tab": 9}


def installed():
    """The browser's path, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="browser",
                                                   ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [installed(), f"--user-data-dir={self._folder.name}", *_OPTIONS],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        try:
            self._port = self._wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._folder.cleanup()

    def _wait(self):
        """The port that it listens at."""
        file = pathlib.Path(self._folder.name) / "DevToolsActivePort"
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end and self._process.poll() is None:
            with contextlib.suppress(OSError, ValueError, IndexError):
                return int(file.read_text().splitlines()[0])
            time.sleep(0.05)
        raise RuntimeError("the browser did not start")

    def open(self, path, width=1280, height=900, dark=False, script=True):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}/json/new", method="PUT")
        with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
            target = json.load(answer)["webSocketDebuggerUrl"]
        page = Page(target)
        page.show(pathlib.Path(path).resolve().as_uri(), width, height, dark,
                  script)
        return page


class Page:
    """A tab. `complaints`: errors and warnings of the console, and requests
    to anywhere but files."""

    def __init__(self, target):
        import websocket
        self._socket = websocket.create_connection(target,
                                                   timeout=_PATIENCE)
        self._number = 0
        self._loaded = False
        self.complaints = []
        for name in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{name}.enable")

    def _note(self, event):
        method, about = event.get("method"), event.get("params", {})
        if method == "Page.loadEventFired":
            self._loaded = True
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(about["exceptionDetails"]))
        elif method == "Log.entryAdded":
            if about["entry"]["level"] in ("error", "warning"):
                self.complaints.append(about["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            if about["type"] in ("error", "warning", "assert"):
                self.complaints.append(json.dumps(about["args"]))
        elif method == "Network.requestWillBeSent":
            url = about["request"]["url"]
            if not url.startswith(("file:", "data:")):
                self.complaints.append(f"it asks for {url}")

    def ask(self, method, **parameters):
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method,
                                      "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def show(self, url, width, height, dark, script):
        self.size(width, height)
        self.dark(dark)
        self.ask("Emulation.setScriptExecutionDisabled", value=not script)
        self._loaded = False
        self.ask("Page.navigate", url=url)
        while not self._loaded:
            self._note(json.loads(self._socket.recv()))

    def size(self, width, height):
        self.ask("Emulation.setDeviceMetricsOverride", width=width,
                 height=height, deviceScaleFactor=1, mobile=width < 600)

    def dark(self, dark, media=""):
        self.ask("Emulation.setEmulatedMedia", media=media, features=[
            {"name": "prefers-color-scheme",
             "value": "dark" if dark else "light"}])

    def evaluate(self, expression):
        """The value of a JavaScript expression."""
        answer = self.ask("Runtime.evaluate", expression=expression,
                          returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def box(self, selector):
        """x, y, width, height of an element, scrolled into view."""
        return self.evaluate(
            "(async e => { e.scrollIntoView({block: 'center'}); "
            # The page hears of it with the second frame from here.
            "for (let i = 0; i < 2; i++) "
            "await new Promise(requestAnimationFrame); "
            "const b = e.getBoundingClientRect(); return "
            "[b.x, b.y, b.width, b.height]; })"
            f"(document.querySelector({json.dumps(selector)}))")

    def move(self, x, y):
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def click(self, selector):
        x, y, width, height = self.box(selector)
        at = {"x": x + width / 2, "y": y + height / 2, "button": "left",
              "clickCount": 1}
        self.move(at["x"], at["y"])
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, **at)

    def press(self, key):
        about = {"key": key, "code": key, "windowsVirtualKeyCode": _KEYS[key]}
        if key == "Enter":
            about["text"] = "\r"
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, **about)

    def type(self, text):
        self.ask("Input.insertText", text=text)

    def screenshot(self, selector=None, whole=False):
        """A PNG of what is seen, of one element, or of the whole page."""
        options = {}
        if selector:
            x, y, width, height = self.box(selector)
            y += self.evaluate("scrollY")
            options = {"clip": {"x": x, "y": y, "width": width,
                                "height": height, "scale": 1}}
        return base64.b64decode(self.ask(
            "Page.captureScreenshot", format="png",
            captureBeyondViewport=bool(whole or selector), **options)["data"])


def pixels(png):
    """The set of colours, (red, green, blue), of a PNG of 8 bits a channel
    without interlacing."""
    at, data, wide, channels = 8, b"", 0, 0
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        body = png[at + 8:at + 8 + length]
        at += 12 + length
        if kind == b"IHDR":
            wide, _, depth, colour, _, _, interlaced = struct.unpack(
                ">IIBBBBB", body)
            channels = {2: 3, 6: 4}[colour]
            assert depth == 8 and not interlaced
        elif kind == b"IDAT":
            data += body
    data = zlib.decompress(data)
    line = wide * channels
    above, found = bytearray(line), set()
    for start in range(0, len(data), line + 1):
        how = data[start]
        row = bytearray(data[start + 1:start + 1 + line])
        for i in range(line):
            left = row[i - channels] if i >= channels else 0
            up = above[i]
            if how == 1:
                guess = left
            elif how == 2:
                guess = up
            elif how == 3:
                guess = (left + up) // 2
            elif how == 4:
                corner = above[i - channels] if i >= channels else 0
                near = left + up - corner
                guess = min((left, up, corner), key=lambda v: abs(near - v))
            else:
                break
            row[i] = (row[i] + guess) & 255
        found.update(zip(row[0::channels], row[1::channels],
                         row[2::channels]))
        above = row
    return found
