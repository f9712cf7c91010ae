"""Takes PySide6's wrapper off the `import` statement when this module is imported. Import it after Qt.

The wrapper serves `from __feature__ import …`, which is not used here. To find out whether a
module uses PySide6 it reads the source text of every module that is imported after it and the
texts stay in memory: with an SDK and NumPy that is 20 MB and a quarter of their import time.
"""

from __future__ import annotations

import builtins

_wrapper = getattr(builtins, "__feature_import__", None)
_wrapped = getattr(builtins, "__orig_import__", None)
if _wrapped is not None and builtins.__import__ is _wrapper:
    builtins.__import__ = _wrapped
