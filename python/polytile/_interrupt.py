"""Ctrl-C while the library runs: it cancels what runs, and raises KeyboardInterrupt.

Python's own handler of the signal runs only when a call of the library has returned. So the number
of the signal, which Python writes to a file as it comes, is read by a thread that cancels.
"""

import os
import select
import signal
import socket
import threading
from _signal import getsignal  # signal's own looks for names of handlers


class _Watch:
    """A thread that calls a function for each Ctrl-C."""

    def __init__(self):
        self.pid = os.getpid()
        self.cancel = None
        self.context = None  # of what would be cancelled
        self.former = -1
        self.lock = threading.RLock()  # an object may be freed while it is held, and forget()
        self.read, self.write = socket.socketpair()
        self.read.setblocking(False)
        self.write.setblocking(False)
        threading.Thread(target=self._watch, name="polytile-interrupt", daemon=True).start()

    def _watch(self):
        while True:
            select.select([self.read], [], [])
            with self.lock:
                if signal.SIGINT in self._take() and self.cancel is not None:
                    self.cancel()

    def _take(self):
        """The numbers that came, which whoever had the file before gets too. The lock is held."""
        try:
            numbers = self.read.recv(64)
        except BlockingIOError:
            return b""
        if self.former >= 0:
            os.write(self.former, numbers)
        return numbers

    def begin(self, cancel, context):
        with self.lock:
            former = signal.set_wakeup_fd(self.write.fileno(), warn_on_full_buffer=False)
            if former != self.write.fileno():  # else a Ctrl-C kept end() from running
                self.former = former
            self._take_all()
            self.cancel = cancel
            self.context = context

    def end(self):
        """A number that came before and was not read yet must not cancel what runs next."""
        with self.lock:
            self.cancel = None
            self.context = None
            signal.set_wakeup_fd(self.former, warn_on_full_buffer=False)
            self._take_all()
            self.former = -1

    def _take_all(self):
        while self._take():
            pass


_watch = None


def forget(context):
    """Cancel nothing of a context any more: it goes away."""
    if _watch is not None and _watch.pid == os.getpid():
        with _watch.lock:
            if _watch.context is context:
                _watch.cancel = None
                _watch.context = None


class Interruptible:
    """Within a with statement of the main thread Ctrl-C calls `cancel`, from another thread.

    context: of what is cancelled; once it is gone nothing is.
    """

    def __init__(self, cancel, context=None):
        self.cancel = cancel
        self.context = context
        self.is_watched = (
            threading.current_thread() is threading.main_thread()
            and getsignal(signal.SIGINT) is signal.default_int_handler)

    def __enter__(self):
        global _watch
        if self.is_watched:
            if _watch is None or _watch.pid != os.getpid():
                _watch = _Watch()
            _watch.begin(self.cancel, self.context)
        return self

    def __exit__(self, *_):
        if self.is_watched:
            _watch.end()
