"""Ctrl-C cancels what runs when it comes, and nothing that runs later."""

import os
import signal

import pytest

from polytile import _interrupt

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no such signals here")


def press():
    os.kill(os.getpid(), signal.SIGINT)


def in_handler(function):
    """Whether the function is left by Ctrl-C."""
    try:
        function()
    except KeyboardInterrupt:
        return True
    return False


def test_a_number_that_is_read_late_cancels_nothing_else():
    for _ in range(200):
        cancelled = []

        def run_and_press():
            with _interrupt.Interruptible(lambda: cancelled.append("first")):
                with _interrupt._watch.lock:  # so that nobody reads the number yet
                    press()

        assert in_handler(run_and_press)
        with _interrupt.Interruptible(lambda: cancelled.append("second")):
            pass
        assert "second" not in cancelled


def test_a_statement_that_was_not_left_in_order_is_left_by_the_next():
    former = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(former)
    _interrupt.Interruptible(lambda: None).__enter__()
    with _interrupt.Interruptible(lambda: None):
        pass
    assert signal.set_wakeup_fd(former) == former


def test_what_goes_away_is_not_cancelled_and_all_else_is():
    own, other = object(), object()
    with _interrupt.Interruptible(lambda: None, own):
        _interrupt.forget(other)
        assert _interrupt._watch.cancel is not None
        _interrupt.forget(own)
        assert _interrupt._watch.cancel is None


def test_whoever_watched_signals_before_hears_of_them():
    read, write = os.pipe()
    os.set_blocking(write, False)
    os.set_blocking(read, False)
    former = signal.set_wakeup_fd(write)
    try:

        def run_and_press():
            with _interrupt.Interruptible(lambda: None):
                press()

        assert in_handler(run_and_press)
        assert os.read(read, 8) == bytes([signal.SIGINT])
    finally:
        signal.set_wakeup_fd(former)
        os.close(read)
        os.close(write)
