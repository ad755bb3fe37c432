"""A headless Firefox driven over Marionette, its own socket: nothing to install but the browser."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("firefox-esr", "firefox")
PATIENCE = 60.0
PREFS = {
    "app.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "toolkit.telemetry.enabled": False,
}


def find_firefox() -> str | None:
    """The browser's place: LEVERRIER_FIREFOX, or the first of the usual names on the path."""
    named = os.environ.get("LEVERRIER_FIREFOX")
    return named or next((found for name in NAMES if (found := shutil.which(name))), None)


class Firefox:
    """One browser process. Messages are JSON arrays with their length before them."""

    def __init__(self, program: str, folder: Path) -> None:
        port = _free_port()
        prefs = {**PREFS, "marionette.port": port}
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in prefs.items()]
        (folder / "user.js").write_text("\n".join(lines))
        self._log = (folder / "log.txt").open("wb")
        self._process = subprocess.Popen(
            [
                program,
                "--headless",
                "--marionette",
                "-remote-allow-system-access",
                "--no-remote",
                "--profile",
                str(folder),
            ],
            stdout=self._log,
            stderr=self._log,
            env={**os.environ, "HOME": str(folder)},
        )
        self._socket = self._connected(port)
        self._file = self._socket.makefile("rb")
        self._number = 0
        self._next()  # the greeting
        self.call("WebDriver:NewSession", capabilities={})

    def _connected(self, port: int) -> socket.socket:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            except OSError:
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise
                time.sleep(0.1)

    def _next(self) -> Any:
        size = b""
        while not size.endswith(b":"):
            size += self._file.read(1)
        return json.loads(self._file.read(int(size[:-1])))

    def call(self, command: str, **parameters: Any) -> Any:
        """Ask, and wait for the answer."""
        self._number += 1
        text = json.dumps([0, self._number, command, parameters]).encode()
        self._socket.sendall(str(len(text)).encode() + b":" + text)
        _, _, error, result = self._next()
        if error is not None:
            raise RuntimeError(f"{command}: {error}")
        return result

    def open(self, path: Path, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Show a file, in a window of this size."""
        self._privileged(
            "Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', arguments[0]);"
            "Services.console.reset();",
            0 if dark else 1,
        )
        self.call("WebDriver:Navigate", url="about:blank")
        self.call("WebDriver:SetWindowRect", width=width, height=height)
        inner = self.run("[innerWidth, innerHeight]")
        self.call("WebDriver:SetWindowRect", width=2 * width - inner[0], height=2 * height - inner[1])
        self.call("WebDriver:Navigate", url=path.resolve().as_uri())

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression; a promise is waited for."""
        script = f"const done = arguments[arguments.length - 1]; Promise.resolve({expression}).then(done);"
        return self.call("WebDriver:ExecuteAsyncScript", script=script, args=[], newSandbox=True)["value"]

    def _privileged(self, script: str, *given: Any) -> Any:
        self.call("Marionette:SetContext", value="chrome")
        try:
            return self.call("WebDriver:ExecuteScript", script=script, args=list(given))["value"]
        finally:
            self.call("Marionette:SetContext", value="content")

    @property
    def complaints(self) -> list[str]:
        """What the console says of the page: errors and warnings of files."""
        said = self._privileged("return Services.console.getMessageArray().map(each => String(each.message));")
        return [each for each in said if "file://" in each]

    def screenshot(self, path: Path) -> None:
        data = self.call("WebDriver:TakeScreenshot", full=True, hash=False)["value"]
        path.write_bytes(base64.b64decode(data))

    def pdf(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("WebDriver:Print", background=True)["value"]))

    def close(self) -> None:
        try:
            self.call("Marionette:Quit", flags=["eForceQuit"])
        except (RuntimeError, OSError, ValueError):
            self._process.terminate()
        self._file.close()
        self._socket.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]
