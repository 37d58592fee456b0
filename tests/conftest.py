"""What all tests share: messages without colours, which Sphinx adds wherever CI is set."""

import os

os.environ["NO_COLOR"] = "1"
os.environ.pop("FORCE_COLOR", None)
