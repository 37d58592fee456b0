import numpy as np


# tag::scale[]
def scale(rows, factor, a_parameter_with_a_long_name=None, another_parameter_with_a_long_name=None):
    """Multiply every row by a factor: rows [n, d] -> [n, d]."""
    if factor is None:  # a comment, to see its colour
        raise ValueError(f"factor must be a number, not {factor!r}")
    return np.asarray(rows) * factor


# end::scale[]
