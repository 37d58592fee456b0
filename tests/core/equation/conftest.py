"""Long runs are started by name only: pytest -m soak."""

import pytest


def pytest_collection_modifyitems(config, items):
    if "soak" in (config.option.markexpr or ""):
        return
    for item in items:
        if item.get_closest_marker("soak"):
            item.add_marker(pytest.mark.skip(reason="a long run; start it with -m soak"))
