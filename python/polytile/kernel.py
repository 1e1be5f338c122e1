"""Kernels, and launches of them: run, plan and check."""

import functools
import html
import json
import numbers

from ._context import current
from ._interrupt import Interruptible
from ._library import ffi, lib, take_text, text_of
from .arrays import Described, GpuMemory, Wrapped, domain_of
from .errors import Error, InvalidError, encoded
from .source import Text

_ROLES = ("in", "out", "inout", "sum", "prod", "min", "max", "argmin", "argmax")
_SIGNED, _UNSIGNED, _FLOAT = 1, 2, 3
_TEXT, _JSON, _SVG = 0, 1, 2


class Kernel:
    """A declaration and what runs its threads; a call runs it on the host.

    Nothing is compiled before the first launch over arrays of certain types.
    """

    def __init__(self, source):
        encoded(source.declaration, "a declaration")
        self.source = source
        handle = current().kernel(source)
        self.name = text_of(lib.polytile_kernel_get_name(handle))
        self.n_indices = lib.polytile_kernel_get_n_indices(handle)
        self.arrays = tuple(text_of(lib.polytile_kernel_get_array_name(handle, a))
                            for a in range(lib.polytile_kernel_get_n_arrays(handle)))
        self.roles = tuple(_ROLES[lib.polytile_kernel_get_array_role(handle, a)]
                           for a in range(len(self.arrays)))
        self.parameters = tuple(text_of(lib.polytile_kernel_get_parameter_name(handle, p))
                                for p in range(lib.polytile_kernel_get_n_parameters(handle)))

    def __call__(self, *arrays, **options):
        if len(arrays) == 1 and callable(arrays[0]) and not options:
            return self._decorate(arrays[0])
        return run(self, *arrays, **options)

    def _decorate(self, function):
        """@kernel(...) above a function gives it the function's name and documentation."""
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__
        self.__wrapped__ = function
        return self

    def __repr__(self):
        return f"<polytile.Kernel {self.source.declaration!r}>"


def kernel(declaration, body=None, contracts=False):
    """Make a kernel: kernel("add[i]: in x[i], y[i]; out z[i]", "z(i) = x(i) + y(i);")."""
    if body is not None:
        encoded(body, "a body")
    return Kernel(Text(declaration, body, bool(contracts)))


_ARRAYS = ffi.typeof("polytile_array *[]")
_OPTIONS = ffi.typeof("polytile_launch_options *")
_PARAMETERS = ffi.typeof("polytile_parameter[]")


class Launch:
    """What one launch needs of the library, kept while it is used."""

    def __init__(self, context, of, wrapped, ranges, limit, params, block=None):
        self.kernel = context.kernel(of.source.for_arrays([w.memory for w in wrapped]))
        self.arrays = ffi.new(_ARRAYS, [w.handle for w in wrapped])
        self.n_arrays = len(wrapped)
        self._written = [w for role, w in zip(of.roles, wrapped) if role != "in"]
        self.domain = domain_of(ranges)
        self._kept = []
        self.options = ffi.new(_OPTIONS)
        self.options.n_parameters = len(params)
        self._parameters = ffi.new(_PARAMETERS, max(1, len(params)))
        for k, (name, value) in enumerate(params.items()):
            self._fill_parameter(self._parameters[k], name, value)
        self.options.parameters = self._parameters
        self.options.plan.limit_bytes = _bytes_of(limit)
        if block is not None:
            if len(block) != of.n_indices:
                raise InvalidError(
                    f"{of.name}: block has {len(block)} extents, the kernel {of.n_indices} indices")
            self._kept.append(ffi.new("int64_t[]", [_int64(extent, "block") for extent in block]))
            self.options.plan.block = self._kept[-1]

    def writes_what_is_read_only(self):
        """Whether an array that is written has become read-only since."""
        for one in self._written:
            if not one.is_writable:
                return True
        return False

    def _fill_parameter(self, parameter, name, value):
        self._kept.append(ffi.new("char[]", name.encode()))
        parameter.name = self._kept[-1]
        if isinstance(value, numbers.Integral):
            is_large = int(value) >= 1 << 63
            if not -1 << 63 <= int(value) < 1 << 64:
                raise InvalidError(f"parameter {name} is {value}, which exceeds 64 bits")
            parameter.number = _UNSIGNED if is_large else _SIGNED
            parameter.value = int(value) - (1 << 64 if is_large else 0)
        elif isinstance(value, numbers.Real):
            parameter.number = _FLOAT
            parameter.real = float(value)
        else:
            raise InvalidError(f"parameter {name} is {value!r}, which is no number")


def _int64(value, what):
    if not -1 << 63 <= int(value) < 1 << 63:
        raise InvalidError(f"{what} has the number {value}, which exceeds 64 bits")
    return int(value)


def _bytes_of(limit):
    """A limit as bytes: a number of them, or a text such as "64MiB"."""
    if limit is None:
        return 0
    if isinstance(limit, numbers.Integral):
        return _int64(limit, "limit")
    found = ffi.new("int64_t *")
    if not lib.polytile_size_parse(str(limit).encode(), found):
        why = ffi.new("char[]", 128)
        raise InvalidError(
            f"limit {limit!r}: {text_of(lib.polytile_size_explain(str(limit).encode(), why))}")
    return found[0]


def _range_of(part):
    """(lo, hi, step) of an extent, of (lo, hi) and (lo, hi, step), which include both ends, or of a
    slice, which does not include its end."""
    if isinstance(part, numbers.Integral):
        part = (0, int(part) - 1)
    elif isinstance(part, (slice, range)):
        if part.start is None or part.stop is None:
            raise InvalidError(f"a slice of a domain needs both ends: {part}")
        part = (part.start, int(part.stop) - 1, 1 if part.step is None else part.step)
    try:
        found = tuple(_int64(number, "domain") for number in part)
    except (TypeError, ValueError) as error:
        raise error if isinstance(error, InvalidError) else _no_range(part) from error
    if len(found) not in (2, 3):
        raise _no_range(part)
    found = (*found, 1)[:3]
    if found[2] < 1:
        raise InvalidError(f"a domain's step is {found[2]}; give 1 or more")
    return found


def _no_range(part):
    return InvalidError(
        f"{part} is no range: give an extent, a slice, (lo, hi) or (lo, hi, step)")


def ranges_of_domain(of, wrapped, domain):
    """The ranges of a domain; the default is the extents of the first array that is overwritten."""
    if domain is not None:
        parts = domain if isinstance(domain, (tuple, list)) else (domain,)
        return [_range_of(part) for part in parts]
    for role, w in zip(of.roles, wrapped):
        if role in ("out", "inout") and len(w.memory.shape) == of.n_indices:
            return [_range_of(extent) for extent in w.memory.shape]
    raise InvalidError(
        f"{of.name}: domain is missing, and no array that is written has {of.n_indices} "
        "dimensions; give the threads, such as domain=(n, m)")


def _check_arrays(of, wrapped):
    for role, w in zip(of.roles, wrapped):
        if role != "in" and not w.is_writable:
            raise InvalidError(
                f"{of.name}: array {w.name} is written ({role}), but is read-only; give a copy, or "
                "open its file with mode r+")


class Launches:
    """The launches of a queue, kept for those that are alike: many are."""

    _MOST = 256

    def __init__(self):
        self._made = {}

    @staticmethod
    def key_of(of, arrays, domain, params):
        """What alike launches have in common; None: this one has no like. Arrays may change their
        shapes, and so a domain that is that of an array."""
        if domain is None:
            return None
        try:
            key = (of, _as_key(domain), *map(id, arrays))
            if params:  # zeros have a sign, which comparing does not tell
                key += tuple((name, type(value), value or repr(value))
                             for name, value in params.items())
            hash(key)
        except TypeError:
            return None
        return key

    def get(self, key):
        """The launch of a key that can run still; None: there is none."""
        found = self._made.get(key)
        return None if found is None or found[0].writes_what_is_read_only() else found[0]

    def add(self, key, launch, arrays):
        """Keep a launch, and with it its arrays, so that others have other addresses."""
        if len(self._made) == self._MOST:
            self._made.clear()
        self._made[key] = launch, arrays

    def clear(self):
        """Forget all, before an array ends."""
        self._made.clear()


def _as_key(domain):
    """A domain by its values: lists change, and before Python 3.12 slices have no hash."""
    parts = domain if isinstance(domain, (tuple, list)) else (domain,)
    return tuple((slice, one.start, one.stop, one.step) if type(one) is slice else one
                 for one in parts)


def require_count(of, arrays):
    """Refuse what is no kernel, and another number of arrays than a kernel's."""
    if not isinstance(of, Kernel):
        raise InvalidError(
            f"{type(of).__name__} is no kernel; make one by kernel(declaration, body)")
    if len(arrays) != len(of.arrays):
        raise InvalidError(
            f"{of.name}: {len(arrays)} arrays are given and the kernel has {len(of.arrays)}: "
            f"{', '.join(of.arrays)}")


class Arguments:
    """The arrays of a launch, wrapped until the end of a with statement."""

    def __init__(self, context, of, arrays):
        self.context, self.of = context, of
        require_count(of, arrays)
        self.given = arrays
        self.wrapped = []

    def __enter__(self):
        self.context.lock.acquire()
        try:
            for name, given in zip(self.of.arrays, self.given):
                self.wrapped.append(self._find_same(given) or Wrapped(self.context, given, name))
        except BaseException:
            self.__exit__()
            raise
        return self.wrapped

    def _find_same(self, given):
        for other, wrapped in zip(self.given, self.wrapped):
            if other is given:
                return wrapped
        return None

    def __exit__(self, *_):
        for wrapped in set(self.wrapped):
            wrapped.destroy()
        self.wrapped = []
        self.context.lock.release()


class Report:
    """What a run did and took."""

    def __init__(self, report):
        for name in ("n_launches", "n_kernels", "peak_device_bytes", "h2d_bytes", "d2h_bytes",
                     "p2p_bytes", "lower_bound_bytes", "enqueue_s", "plan_s", "run_s", "compute_s",
                     "transfer_s"):
            setattr(self, name, getattr(report, name))

    def __repr__(self):
        return "Report(" + ", ".join(f"{k}={v!r}" for k, v in vars(self).items()) + ")"


def run(of, *arrays, domain=None, device="host", limit=None, **params):
    """Run a kernel over arrays and wait for it; returns a Report. Ctrl-C cancels the run.

    domain: extents (n, m), or for each index (lo, hi) with both ends included, or a slice.
    limit: of device memory, "64MiB" or bytes. Parameters are given by their names.
    """
    context = current()
    with Arguments(context, of, arrays) as wrapped:
        _check_arrays(of, wrapped)
        launch = Launch(context, of, wrapped, ranges_of_domain(of, wrapped, domain), limit, params)
        opened = context.device(device)
        with Interruptible(lambda: lib.polytile_device_cancel(opened), context):
            status = lib.polytile_run(opened, launch.kernel, launch.domain, launch.n_arrays,
                                      launch.arrays, launch.options)
        context.require(status)
        report = ffi.new("polytile_report *")
        lib.polytile_device_get_report(opened, report)
        return Report(report)


class Plan:
    """The sub-kernels of a launch; a notebook shows it as a picture above a table."""

    def __init__(self, text, data, svg):
        self.text, self.data, self.svg = text, data, svg

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"<polytile.Plan of {self.data['kernel']}: {self.data['kernels']} sub-kernels>"

    def _repr_svg_(self):
        return self.svg

    def _repr_html_(self):
        shown = ("kernel", "strategy", "limit_bytes", "peak_device_bytes", "kernels", "h2d_bytes",
                 "d2h_bytes", "lower_bound_bytes", "predicted_seconds")
        rows = "".join(f"<tr><th>{key}</th><td>{html.escape(str(self.data[key]))}</td></tr>"
                       for key in shown if key in self.data)
        picture = self.svg[self.svg.index("<svg"):]
        return f"<div>{picture}<table>{rows}</table></div>"


def plan(of, *arrays, domain=None, limit=None, block=None, **params):
    """Plan a launch; arrays may be described() ones. Nothing runs."""
    context = current()
    made = ffi.new("polytile_plan **")
    with Arguments(context, of, arrays) as wrapped:
        ranges = ranges_of_domain(of, wrapped, domain)
        launch = Launch(context, of, wrapped, ranges, limit, params, block)
        context.require(lib.polytile_plan_create(launch.kernel, launch.domain, launch.n_arrays,
                                                 launch.arrays, launch.options, made))
        try:
            text, data, svg = (_print_plan(context, made[0], f) for f in (_TEXT, _JSON, _SVG))
        finally:
            lib.polytile_plan_destroy(made[0])
    return Plan(text, json.loads(data), svg)


def _print_plan(context, made, form):
    text = ffi.new("char **")
    context.require(lib.polytile_plan_to_string(made, form, text))
    return take_text(text[0])


class Checked:
    """A launch that was found right; a notebook shows what was found below the launch's plan."""

    def __init__(self, text, make_plan):
        self.text = text
        self._make_plan = make_plan

    def __str__(self):
        return self.text

    __repr__ = __str__

    def _plan(self):
        """The launch's plan; None where that needs the arrays' elements, or nothing fits."""
        try:
            return self._make_plan()
        except Error:
            return None

    def _repr_svg_(self):
        made = self._plan()
        return None if made is None else made.svg

    def _repr_html_(self):
        made = self._plan()
        picture = "" if made is None else made._repr_html_()
        return f"<div>{picture}<p>&#10003; {html.escape(self.text)}</p></div>"


def check(of, *arrays, domain=None, device="host", limit=None, **params):
    """Prove that the threads of a launch do not conflict, and, if the arrays have memory and the
    kernel a body, run some on copies, to see that it keeps to its declaration. Raises what is
    wrong; arrays stay as they are."""
    context = current()
    with Arguments(context, of, arrays) as wrapped:
        launch = Launch(context, of, wrapped, ranges_of_domain(of, wrapped, domain), limit, params)
        context.require(lib.polytile_check(launch.kernel, launch.domain, launch.n_arrays,
                                           launch.arrays, launch.options))
        said = f"{of.name}: no two threads conflict"
        if any(isinstance(w.memory, GpuMemory) for w in wrapped):
            said += "; the body was not tried, since arrays lie on a GPU"
        elif of.source.has_body and not any(isinstance(w.memory, Described) for w in wrapped):
            _check_arrays(of, wrapped)
            context.require(lib.polytile_check_run(
                context.device(device), launch.kernel, launch.domain, launch.n_arrays,
                launch.arrays, launch.options, ffi.NULL))
            said += ", and the body touches what the declaration says"
        shapes = [Described(w.memory.dtype, w.memory.shape) for w in wrapped]
    return Checked(said, functools.partial(plan, of, *shapes, domain=domain, limit=limit, **params))
