import os
import signal
import tempfile

# Compiled bodies are kept apart from the user's, as long as the tests run.
_kept = tempfile.TemporaryDirectory(prefix="polytile-python-")
os.environ["POLYTILE_CACHE"] = os.path.join(_kept.name, "cache")

# A shell lets what it starts in the background ignore Ctrl-C, and Python goes on with that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
