"""Chromium without a window, driven over a pipe by the DevTools protocol; standard library only."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return name
    return None


class Browser:
    def __init__(self, timeout=90):
        self.timeout = timeout
        self.profile = tempfile.mkdtemp(prefix="vyre-chromium-")
        to_read, self.write_fd = os.pipe()
        self.read_fd, from_write = os.pipe()

        # Chromium reads commands from 3 and answers on 4. What is to become 4 may be 3 just now.
        def connect():
            spare = os.dup(from_write)
            while spare in (3, 4):
                spare = os.dup(from_write)
            os.dup2(to_read, 3)
            os.dup2(spare, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        self.process = subprocess.Popen(
            [find_chromium(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank"],
            preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.buffer = b""
        self.last = 0
        self.session = None
        self.problems = []   # exceptions of scripts, violations of the page's policy
        self.requests = []   # everything that was asked for
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    # ---- the protocol

    def receive(self, deadline):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_fd], [], [], max(0, deadline - time.time()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.read_fd, 1 << 16)
            if not piece:
                raise EOFError("the browser has ended")
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def heard(self, message):
        method, data = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = data["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded" and data["entry"]["level"] in ("error", "warning"):
            self.problems.append(data["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.problems.append("a dialog: " + data["message"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(data["request"]["url"])

    def call(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_fd, json.dumps(message).encode() + b"\0")
        deadline = time.time() + self.timeout
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.heard(answer)

    # ---- what a person does

    def open(self, path, width=1280, height=900, scheme="light"):
        self.resize(width, height)
        self.prefer(scheme)
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        deadline = time.time() + self.timeout
        while self.js("document.readyState") != "complete":
            if time.time() > deadline:
                raise TimeoutError("the page does not load")
            time.sleep(0.05)

    def resize(self, width, height=900):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)

    def prefer(self, scheme):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme},
                            {"name": "prefers-reduced-motion", "value": "reduce"}])

    def js(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def click(self, selector, index=0):
        """With the mouse, at the middle of what is there: an element that something covers is not clicked."""
        where = self.js(f"""(() => {{
          const e = document.querySelectorAll({json.dumps(selector)})[{index}];
          if (!e) return null;
          e.scrollIntoView({{block: "center"}});
          const r = e.getBoundingClientRect();
          return [r.left + r.width / 2, r.top + r.height / 2];
        }})()""")
        assert where, f"there is no {selector}"
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=where[0], y=where[1], button="left",
                      clickCount=1)

    def press(self, key):
        code = {"ArrowDown": 40, "ArrowUp": 38, "Home": 36, "End": 35, "Tab": 9}.get(key)
        extra = {"windowsVirtualKeyCode": code} if code else {"text": key}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **extra)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def text(self, selector):
        return self.js(f"document.querySelector({json.dumps(selector)})?.innerText ?? null")

    def count(self, selector):
        return self.js(f"document.querySelectorAll({json.dumps(selector)}).length")

    def screenshot(self, path, whole=False):
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as f:
            f.write(base64.b64decode(picture["data"]))
