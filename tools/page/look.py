#!/usr/bin/env python3
"""Opens a job's page in Chromium without a window, waits until it shows a round or what --until says, and fails if its
console has a word. --until, --press and --type may be given often, and are done in their order.
Needs Debian's chromium; talks to it by the DevTools protocol over pipes.

example: tools/page/look.py http://127.0.0.1:7780/ --screenshot page.png --dark
"""
import argparse
import base64
import json
import os
import select
import subprocess
import sys
import tempfile
import time

PATIENCE_S = 60
FIRST_ROUND = [("until", "document.getElementById('round').textContent !== '–'")]
KEYS = {"Enter": (13, "\r"), "Tab": (9, ""), "Escape": (27, "")}


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    parser.add_argument("--screenshot", metavar="PNG", help="writes what is seen")
    parser.add_argument("--width", type=int, default=1440)
    parser.add_argument("--height", type=int, default=1010)
    parser.add_argument("--dark", action="store_true", help="asks for dark colours")
    parser.add_argument("--trees", type=int, default=0, help="so many trees are switched on")
    for name, metavar, what in (("until", "JS", "an expression that must become true"),
                                ("press", "KEY", f"one of {', '.join(KEYS)}"),
                                ("type", "TEXT", "goes to what has the focus")):
        parser.add_argument(f"--{name}", metavar=metavar, dest="steps", action="append", help=what,
                            type=lambda text, name=name: (name, text))
    return parser.parse_args()


class Browser:
    """A Chromium of its own, with one page."""

    def __init__(self, directory):
        to_browser, self._out = os.pipe()
        self._in, from_browser = os.pipe()
        self._next_id = 0
        self._session = None
        self._rest = b""
        self.console = []
        # The protocol's descriptors are 3 and 4, by whatever numbers they came.
        command = 'exec 3<&"$1" 4>&"$2"; shift 2; exec "$@"'
        self._process = subprocess.Popen(
            ["bash", "-c", command, "bash", str(to_browser), str(from_browser), "chromium", "--headless",
             "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", f"--user-data-dir={directory}"],
            pass_fds=(to_browser, from_browser), stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)

    def open(self, url, width, height, dark):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=url)

    def call(self, method, **parameters):
        self._next_id += 1
        message = {"id": self._next_id, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self._next_id:
                if "error" in answer:
                    sys.exit(f"look.py: {method}: {answer['error']}")
                return answer["result"]

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return result["result"].get("value")

    def press(self, key):
        code, text = KEYS[key]
        for kind in ("keyDown", "keyUp"):
            typed = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **typed)

    def close(self):
        self._process.terminate()
        self._process.wait()

    def _read(self):
        while b"\0" not in self._rest:
            if not select.select([self._in], [], [], PATIENCE_S)[0]:
                sys.exit(f"look.py: chromium has said nothing for {PATIENCE_S} s")
            data = os.read(self._in, 1 << 16)
            if not data:
                sys.exit("look.py: chromium has ended")
            self._rest += data
        text, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(text)
        if message.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.console.append(json.dumps(message["params"]))
        return message


def await_true(browser, expression):
    deadline = time.monotonic() + PATIENCE_S
    while not browser.evaluate(expression):
        if time.monotonic() > deadline:
            sys.exit(f"look.py: expected {expression} within {PATIENCE_S} s")
        time.sleep(0.1)


def look(browser, arguments):
    browser.open(arguments.url, arguments.width, arguments.height, arguments.dark)
    for kind, what in arguments.steps or FIRST_ROUND:
        if kind == "until":
            await_true(browser, what)
        elif kind == "press":
            browser.press(what)
        else:
            browser.call("Input.insertText", text=what)
    for tree in range(arguments.trees):
        browser.evaluate(f"document.querySelectorAll('#trees button')[{tree}]?.click()")
    if arguments.screenshot is not None:
        picture = browser.call("Page.captureScreenshot", format="png")["data"]
        with open(arguments.screenshot, "wb") as file:
            file.write(base64.b64decode(picture))
    if browser.console:
        sys.exit("look.py: expected an empty console:\n" + "\n".join(browser.console))


def main():
    arguments = read_arguments()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        browser = Browser(directory)
        try:
            look(browser, arguments)
        finally:
            browser.close()


main()
