"""Ctrl-C while the library runs: it cancels what runs, and raises KeyboardInterrupt.

Python's own handler of the signal runs only when a call of the library has returned. So the number
of the signal, which Python writes to a file as it comes, is read by a thread that cancels.
"""

import os
import signal
import socket
import threading
from _signal import getsignal  # signal's own looks for names of handlers


class _Watch:
    """A thread that calls a function for each Ctrl-C."""

    def __init__(self):
        self.pid = os.getpid()
        self.cancel = None
        self.former = -1
        self.lock = threading.Lock()
        self.read, self.write = socket.socketpair()
        self.write.setblocking(False)
        threading.Thread(target=self._watch, name="polytile-interrupt", daemon=True).start()

    def _watch(self):
        while True:
            numbers = self.read.recv(64)
            with self.lock:
                if self.cancel is not None and signal.SIGINT in numbers:
                    self.cancel()
                if self.former >= 0:
                    os.write(self.former, numbers)


_watch = None


class Interruptible:
    """Within a with statement of the main thread Ctrl-C calls `cancel`, from another thread."""

    def __init__(self, cancel):
        self.cancel = cancel
        self.is_watched = (
            threading.current_thread() is threading.main_thread()
            and getsignal(signal.SIGINT) is signal.default_int_handler)

    def __enter__(self):
        global _watch
        if not self.is_watched:
            return self
        if _watch is None or _watch.pid != os.getpid():
            _watch = _Watch()
        with _watch.lock:
            _watch.cancel = self.cancel
            _watch.former = signal.set_wakeup_fd(_watch.write.fileno(), warn_on_full_buffer=False)
        return self

    def __exit__(self, *_):
        if self.is_watched:
            signal.set_wakeup_fd(_watch.former, warn_on_full_buffer=False)
            with _watch.lock:
                _watch.cancel = None
                _watch.former = -1
