"""Exceptions: one for each status, with the library's own text."""

from ._library import ffi, lib, text_of

__all__ = [
    "Error", "InvalidError", "DeclarationError", "ConflictError", "NoFitError", "MemoryShortError",
    "FileError", "DeviceError", "UnsupportedError", "CancelledError",
]


class Error(RuntimeError):
    """What a call of the library reports."""


class InvalidError(Error, ValueError):
    """A wrong argument."""


class DeclarationError(InvalidError):
    """A wrong declaration or body; the text shows the place with a caret."""


class ConflictError(InvalidError):
    """Two threads touch one element and one writes it; the text names them."""


class NoFitError(Error):
    """Nothing fits the memory limit; the text says what would."""


class MemoryShortError(Error, MemoryError):
    """Out of host memory."""


class FileError(Error, OSError):
    """A file could not be read or written."""


class DeviceError(Error):
    """The device failed."""


class UnsupportedError(Error):
    """Something is not there: a compiler, a device, a type."""


class CancelledError(Error):
    """What was queued or ran was cancelled."""


_BY_TEXT = {
    "invalid argument": InvalidError,
    "wrong declaration": DeclarationError,
    "conflicting accesses": ConflictError,
    "nothing fits the memory limit": NoFitError,
    "a size exceeds 64 bits": InvalidError,
    "out of host memory": MemoryShortError,
    "a file could not be read or written": FileError,
    "the device failed": DeviceError,
    "not supported": UnsupportedError,
    "cancelled": CancelledError,
}


def encoded(text, what):
    """A text as the library takes it; refuses what is none, and one that C would cut."""
    if not isinstance(text, str):
        raise InvalidError(f"{what} is {text!r}, which is no text")
    if "\0" in text:
        raise InvalidError(f"{what} has a NUL character in it, where C's texts end; leave it out")
    return text.encode("utf-8", "replace")


def is_invalid(status):
    """Whether a status is that of a wrong argument."""
    return _BY_TEXT.get(text_of(lib.polytile_status_text(status))) is InvalidError


def require(status, ctx=None):
    """Raise what a status means, with the last error of a context."""
    if status == 0:
        return
    meaning = text_of(lib.polytile_status_text(status))
    said = text_of(lib.polytile_last_error(ffi.NULL if ctx is None else ctx))
    raise _BY_TEXT.get(meaning, Error)(said or meaning)


def error_of(status):
    """The exception of a status, with its meaning alone."""
    meaning = text_of(lib.polytile_status_text(status))
    return _BY_TEXT.get(meaning, Error)(meaning)
