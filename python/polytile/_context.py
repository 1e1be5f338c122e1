"""Contexts. One thread at a time may use one, so each thread has its own, and each queue has."""

import os
import threading

from ._library import ffi, lib
from .errors import Error, require


class Context:
    """Owns what is made in it, until it is destroyed with it."""

    def __init__(self):
        made = ffi.new("polytile_context **")
        require(lib.polytile_context_create(made))
        self._handle = made[0]
        self._pid = os.getpid()
        self.lock = threading.RLock()
        self._kernels = {}
        self._devices = {}

    @property
    def handle(self):
        """The library's context. A child process has none of the threads of its parent's."""
        if self._pid != os.getpid():
            raise Error(
                "polytile: this belongs to the process before fork(); make it anew in the child, "
                "or start processes by spawn"
            )
        return self._handle

    def require(self, status):
        require(status, self._handle)

    def kernel(self, source):
        """The kernel of a declaration and a body, made once; source: (declaration, body, contracts)."""
        if source not in self._kernels:
            declaration, body, contracts = source
            made = ffi.new("polytile_kernel **")
            options = ffi.new("polytile_compile_options *", {"contracts": contracts})
            if body is None:
                status = lib.polytile_kernel_create(
                    self.handle, declaration.encode(), ffi.NULL, made)
            else:
                status = lib.polytile_kernel_compile(
                    self.handle, declaration.encode(), body.encode(), options, made)
            self.require(status)
            self._kernels[source] = made[0]
        return self._kernels[source]

    def device(self, text):
        """The device of a text, opened once."""
        if text not in self._devices:
            made = ffi.new("polytile_device **")
            self.require(lib.polytile_device_open(self.handle, text.encode(), made))
            self._devices[text] = made[0]
        return self._devices[text]

    def destroy(self):
        if self._handle is not None and self._pid == os.getpid():
            lib.polytile_context_destroy(self._handle)
        self._handle = None

    def __del__(self):
        self.destroy()


_of_thread = threading.local()


def current():
    """The calling thread's context; a child process makes its own."""
    context = getattr(_of_thread, "context", None)
    if context is None or context._pid != os.getpid():
        context = _of_thread.context = Context()
    return context
