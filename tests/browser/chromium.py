"""A headless Chromium driven over its debugging pipe: nothing to install but the browser."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PATIENCE = 60.0


def find_chromium() -> str | None:
    """The browser's place: LEVERRIER_CHROMIUM, or the first of the usual names on the path."""
    named = os.environ.get("LEVERRIER_CHROMIUM")
    return named or next((found for name in NAMES if (found := shutil.which(name))), None)


class Chromium:
    """One browser process. Messages are JSON ended by a zero byte, on descriptors 3 (in) and 4 (out)."""

    def __init__(self, program: str, folder: Path) -> None:
        reads, self._out = (_high(each) for each in os.pipe())
        self._in, writes = (_high(each) for each in os.pipe())
        arguments = [
            program,
            "--headless=new",
            "--disable-gpu",
            "--no-first-run",
            "--no-default-browser-check",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--mute-audio",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
            f"--user-data-dir={folder}",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
            "about:blank",
        ]
        self._log = (folder / "stderr.txt").open("wb")
        self._process = subprocess.Popen(
            ["/bin/bash", "-c", f'exec "$@" 3<&{reads} 4>&{writes}', "bash", *arguments],
            pass_fds=(reads, writes),
            stdout=self._log,
            stderr=self._log,
            env={**os.environ, "HOME": str(folder)},
        )
        os.close(reads)
        os.close(writes)
        self._rest = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Ask, and wait for the answer; events that come meanwhile are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        number = self._number
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self._next(deadline)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, wanted: Callable[[dict[str, Any]], bool]) -> None:
        """Until such an event has come."""
        deadline = time.monotonic() + PATIENCE
        while not any(wanted(event) for event in self.events):
            self.events.append(self._next(deadline))

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._in], [], [], max(deadline - time.monotonic(), 0))
            part = os.read(self._in, 2**20) if ready else b""
            if not part:
                raise RuntimeError(f"the browser does not answer (exit code {self._process.poll()})")
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return json.loads(message)

    def close(self) -> None:
        try:
            self.call("Browser.close")
        except (RuntimeError, OSError):
            self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)
        self._log.close()


def _high(descriptor: int) -> int:
    """The same pipe under a number that is neither 3 nor 4."""
    high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 20)
    os.close(descriptor)
    return high


class Page:
    """A file opened in a tab of its own, with all that it logged and asked the network for."""

    def __init__(
        self,
        browser: Chromium,
        path: Path,
        width: int = 1200,
        height: int = 900,
        dark: bool = False,
        script: bool = True,
    ) -> None:
        self.browser = browser
        self._target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = browser.call("Target.attachToTarget", targetId=self._target, flatten=True)["sessionId"]
        browser.events.clear()
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        self.address = path.resolve().as_uri()
        self.call("Page.navigate", url=self.address)
        browser.wait(lambda event: event.get("method") == "Page.loadEventFired")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self.browser.call(method, self._session, **parameters)

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def point(self, selector: str, click: bool = False) -> None:
        """Move the mouse onto an element (an arc: onto its middle), and click it."""
        x, y = self.run(f"""(() => {{
            const each = document.querySelector({json.dumps(selector)});
            each.scrollIntoView({{block: "center", inline: "center", behavior: "instant"}});
            const line = each.querySelector("path.line");
            if (line) {{
                const at = line.getPointAtLength(line.getTotalLength() / 2).matrixTransform(line.getScreenCTM());
                return [at.x, at.y];
            }}
            const box = each.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        if click:
            for kind in ("mousePressed", "mouseReleased"):
                self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings of the console, exceptions, dialogs."""
        self.run("new Promise(done => setTimeout(done, 100))")
        found = []
        for event in self.browser.events:
            method, content = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown" or method == "Page.javascriptDialogOpening":
                found.append(json.dumps(content))
            elif method == "Log.entryAdded" and content["entry"]["level"] in ("error", "warning"):
                found.append(content["entry"]["text"])
            elif method == "Runtime.consoleAPICalled" and content["type"] in ("error", "warning", "assert"):
                found.append(json.dumps(content["args"]))
        return found

    @property
    def requests(self) -> list[str]:
        """What was asked for beside the page itself."""
        asked = [
            e["params"]["request"]["url"] for e in self.browser.events if e.get("method") == "Network.requestWillBeSent"
        ]
        return [url for url in asked if url.partition("#")[0] != self.address]

    def screenshot(self, path: Path, whole: bool = True) -> None:
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 12_000), "scale": 1}
        more = {"captureBeyondViewport": True, "clip": clip} if whole else {}
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png", **more)["data"]))

    def pdf(self, path: Path) -> None:
        data = self.call("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self) -> None:
        self.browser.call("Target.closeTarget", targetId=self._target)
