"""Calls that do not wait, and Ctrl-C."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import polytile as pt

slow = pt.kernel(
    "slow[i]: inout x[i]",
    "double v = x(i); for (int k = 0; k < 20000; k++) v = v * 1.0000001 + 1e-9; x(i) = v;",
)
twice = pt.kernel("twice[i]: inout x[i]", "x(i) = 2 * x(i);")


@pytest.mark.parametrize("device", ["host", "host(memory=64KiB)", "host,host"])
def test_a_function_hears_when_an_array_is_done(device):
    x = np.ones(1000)
    seen = []
    with pt.Queue(device) as queue:
        queue.launch(twice, x, domain=1000)
        queue.notify(x, lambda error=None: seen.append((error, x[0])))
        queue.launch(twice, x, domain=1000)
        while not queue.test(x):
            time.sleep(1e-4)
        assert queue.test() and queue.progress()[0] == 1
        with pytest.raises(pt.InvalidError, match="not attached"):
            queue.notify(np.ones(3), print)
    assert seen == [(None, 2.0)]
    assert (x == 4).all()


def test_cancelling_ends_what_is_queued():
    x = np.ones(4000)
    with pt.Queue("host(threads=1)") as queue:
        for _ in range(50):
            queue.launch(slow, x, domain=4000)
        queue.cancel()
        with pytest.raises(pt.CancelledError, match="cancelled"):
            queue.wait()
        queue.wait()


def interrupt_after(seconds):
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.parametrize("device", ["host", "host(threads=1)"])
def test_an_interrupt_cancels_a_run_in_place(device):
    x = np.ones(2_000_000)
    pt.run(slow, x[:1], device=device)
    start = time.monotonic()
    interrupt_after(0.3)
    with pytest.raises(KeyboardInterrupt):
        pt.run(slow, x, device=device)
    assert time.monotonic() - start < 10
    assert x[-1] == 1


def test_an_interrupt_cancels_queued_launches_in_place():
    x = np.ones(1_000_000)
    start = time.monotonic()
    interrupt_after(0.5)
    with pytest.raises(KeyboardInterrupt):
        with pt.Queue("host") as queue:
            for _ in range(20):
                queue.launch(slow, x)
            queue.wait()
    assert time.monotonic() - start < 10
    assert x[-1] == 1


LONG = """
import numpy as np
import polytile as pt
slow = pt.kernel(
    "slow[i]: inout x[i]",
    "double v = x(i); for (int k = 0; k < 20000; k++) v = v * 1.0000001 + 1e-9; x(i) = v;")
pt.run(slow, np.ones(2_000_000))
"""


def test_a_run_in_place_shows_how_far_it_is():
    reader, terminal = os.openpty()
    running = subprocess.Popen([sys.executable, "-c", LONG], stderr=terminal,
                               env={**os.environ, "TERM": "xterm", "COLUMNS": "80"})
    os.close(terminal)
    shown = ""
    while not re.search(r"slow  \[#*\.+\] \d+ %  .* left", shown):
        shown += os.read(reader, 1000).decode()
    running.send_signal(signal.SIGINT)
    with contextlib.suppress(OSError):  # the terminal ends with the program
        while os.read(reader, 1000):
            continue
    os.close(reader)
    assert running.wait() != 0


def test_an_interrupt_cancels_a_wait():
    x = np.ones(4000)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        with pt.Queue("host(threads=1)") as queue:
            queue.launch(slow, x, domain=1)
            queue.wait()
            interrupt_after(0.1)
            for _ in range(2000):
                queue.launch(slow, x, domain=4000)
            queue.wait()
    taken = time.monotonic() - start
    assert taken < 2000 * 4000 * 20000 * 1e-9 / 4


def test_an_interrupt_cancels_a_run():
    x = np.ones(4_000_000)
    pt.run(slow, x[:1], domain=1, device="host(threads=1,memory=64KiB)")
    start = time.monotonic()
    interrupt_after(0.1)
    with pytest.raises(KeyboardInterrupt):
        pt.run(slow, x, domain=4_000_000, device="host(threads=1,memory=64KiB)")
    assert time.monotonic() - start < 4_000_000 * 20000 * 1e-9 / 4
    pt.run(twice, x, domain=4_000_000)
