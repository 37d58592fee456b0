"""What code finds around it: the system, and the variables besides those that a session names.

Data alone, for builder and worker to share.
"""

from __future__ import annotations

import os
import sys
from typing import Final

IS_LINUX: Final = sys.platform == "linux"
OUR_FOLDER: Final = os.path.dirname(os.path.abspath(__file__))

# The same text, numbers and dates on every machine.
ENVIRONMENT: Final = {
    "LANG": "C.UTF-8",
    "MATPLOTLIBRC": os.path.join(OUR_FOLDER, "matplotlibrc"),
    "MPLBACKEND": "svg",
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "SOURCE_DATE_EPOCH": "315532800",
    "TZ": "UTC",
    **{
        f"{library}_NUM_THREADS": "1"
        for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB_MAXIMUM", "BLIS", "RAYON")
    },
}
