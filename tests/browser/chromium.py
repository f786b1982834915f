"""Chromium without a head, driven over a pipe: no driver program and no port is needed."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
PATIENCE = 60


def program() -> str | None:
    """Where Chromium is, None where there is none."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


class Browser:
    """One tab. It remembers what the page said to the console and what it asked the network for."""

    def __init__(self, path: str) -> None:
        self.errors: list[str] = []
        self.requests: list[str] = []
        self._events: list[dict[str, Any]] = []
        self._number, self._session, self._rest = 0, "", b""
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._process = self._start(path)

    def __enter__(self) -> Self:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE)
        os.close(self._read)
        os.close(self._write)
        self._folder.cleanup()

    def open(self, page: Path, wide: int = 1280, high: int = 900, media: str = "light") -> None:
        """Show a page, and forget what the one before said."""
        self.errors.clear()
        self.requests.clear()
        size = {"width": wide, "height": high, "deviceScaleFactor": 1, "mobile": wide < 600}
        self.call("Emulation.setDeviceMetricsOverride", **size)
        scheme = [{"name": "prefers-color-scheme", "value": media}]
        self.call("Emulation.setEmulatedMedia", media="screen", features=scheme)
        self._events.clear()
        self.call("Page.navigate", url=page.resolve().as_uri())
        self.wait("Page.loadEventFired")

    def run(self, code: str) -> Any:
        """What an expression comes to in the page; promises are awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise AssertionError(json.dumps(answer["exceptionDetails"])[:2000])
        return answer["result"].get("value")

    def key(self, name: str) -> None:
        """Press a key: Tab, Enter, Space."""
        code = {"Tab": 9, "Enter": 13, "Space": 32}[name]
        text = {"Enter": "\r", "Space": " "}.get(name, "")
        key = " " if name == "Space" else name
        told = {"key": key, "code": name, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **told)
        self.call("Input.dispatchKeyEvent", type="keyUp", **told)

    def picture(self, file: Path) -> None:
        """A picture of the whole page."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(shot["data"]))

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to one command of the DevTools protocol."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("id") == self._number:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']}")
                result: dict[str, Any] = found["result"]
                return result

    def wait(self, event: str) -> None:
        """Return once the browser has told of the event."""
        while not any(one["method"] == event for one in self._events):
            self._next()

    def _start(self, path: str) -> subprocess.Popen[bytes]:
        """The browser, which reads commands from descriptor 3 and answers on 4."""
        theirs_in, self._write = os.pipe()
        self._read, theirs_out = os.pipe()

        def place() -> None:
            a, b = os.dup(theirs_in), os.dup(theirs_out)
            low = [fd for fd in (a, b) if fd in (3, 4)]
            a, b = (os.dup(a), os.dup(b)) if low else (a, b)
            os.dup2(a, 3)
            os.dup2(b, 4)

        process = subprocess.Popen(
            [path, *FLAGS, f"--user-data-dir={self._folder.name}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=place,  # noqa: PLW1509 - the tests have no threads
        )
        os.close(theirs_in)
        os.close(theirs_out)
        return process

    def _next(self) -> dict[str, Any]:
        """The next message; errors and requests are kept aside."""
        until = time.monotonic() + PATIENCE
        while b"\0" not in self._rest:
            more = os.read(self._read, 1 << 20)
            if not more or time.monotonic() > until:
                raise RuntimeError("the browser does not answer")
            self._rest += more
        first, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        if "method" in message:
            self._events.append(message)
            self._note(message["method"], message.get("params", {}))
        return message

    def _note(self, method: str, told: dict[str, Any]) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
        elif method == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.errors.append(told["entry"]["text"])
        elif method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(told["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning"):
            self.errors.append(json.dumps(told["args"])[:500])
