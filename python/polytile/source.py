"""What kernels are made of: a declaration, and what runs its threads."""

from typing import NamedTuple, Optional

from ._library import ffi, lib
from .errors import encoded


class Made:
    """A kernel of a context, and what it needs as long as it lives."""

    def __init__(self, handle, *kept):
        self.handle = handle
        self.kept = kept


def make(context, declaration, implementation=ffi.NULL, *kept):
    """A kernel that runs what an implementation says; NULL: it is only planned."""
    made = ffi.new("polytile_kernel **")
    context.require(lib.polytile_kernel_create(
        context.handle, encoded(declaration, "a declaration"), implementation, made))
    return Made(made[0], implementation, *kept)


class Text(NamedTuple):
    """The text of a body, which the library compiles; None: there is none."""

    declaration: str
    body: Optional[str]
    contracts: bool

    @property
    def has_body(self):
        return self.body is not None

    def for_arrays(self, arrays):
        """The source of a launch over such arrays; the library finds out about their types."""
        return self

    def make(self, context):
        if self.body is None:
            return make(context, self.declaration)
        made = ffi.new("polytile_kernel **")
        options = ffi.new("polytile_compile_options *", {"contracts": self.contracts})
        context.require(lib.polytile_kernel_compile(
            context.handle, encoded(self.declaration, "a declaration"),
            encoded(self.body, "a body"), options, made))
        return Made(made[0])
