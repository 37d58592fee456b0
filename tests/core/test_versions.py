"""Versions of the packages that modules are from."""

from importlib import metadata

import numpy as np

from scratchbook.core.versions import installed_version, owners, versions_of


def test_a_module_is_from_the_distribution_of_its_name():
    assert versions_of(["numpy"]) == {"numpy": np.__version__}


def test_a_module_of_another_name_is_found_by_what_its_distribution_installs():
    assert owners("yaml") == ("PyYAML",)
    assert versions_of(["yaml", "numpy"]) == {"PyYAML": metadata.version("PyYAML"), "numpy": np.__version__}


def test_what_nobody_has_installed_has_no_version():
    assert versions_of(["no_such_module"]) == {}
    assert installed_version("no-such-distribution") is None
