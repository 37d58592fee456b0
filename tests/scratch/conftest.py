"""One thread for the tests of scratch/: with two, small products wait for each other more than they compute."""

import os

for library in ("OPENBLAS", "MKL", "OMP"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
