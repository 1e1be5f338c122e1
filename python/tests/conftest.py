import os
import tempfile

# Compiled bodies are kept apart from the user's, as long as the tests run.
_kept = tempfile.TemporaryDirectory(prefix="polytile-python-")
os.environ["POLYTILE_CACHE"] = os.path.join(_kept.name, "cache")
