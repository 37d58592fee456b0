"""Turn token ids into rows of numbers, their embeddings, and bring a row's gradient home to its id.

A name that ends in _bar is the gradient of the loss by what the name says; upstream is that by a function's result.
"""

import numpy as np

from refusals import check_lookup, check_upstream


# tag::lookup[]
def lookup(ids, E):
    """Give every token the row of its id.

    ids: [..., tokens], 0-based   E: [n_vocab, d], the table of embeddings
    -> [..., tokens, d]
    Raises NotIntegerError or OutOfRangeError for an id without a row, and
    ShapeMismatchError for a number instead of a sequence.
    """
    check_lookup(ids, E)
    return E[ids]


def lookup_backward(upstream, ids, E):
    """Add every token's gradient to its row; an id that came twice gets two.

    upstream: [..., tokens, d]
    -> E gradient: [n_vocab, d], zero in rows that were not read
    """
    check_lookup(ids, E)
    check_upstream(upstream, (*np.shape(ids), E.shape[1]))
    E_bar = np.zeros(E.shape, upstream.dtype)
    # E_bar[ids] += upstream would keep only one gradient of a repeated id.
    np.add.at(E_bar, ids, upstream)
    return E_bar
# end::lookup[]


if __name__ == "__main__":
    # tag::run-lookup[]
    E = np.arange(8.0).reshape(4, 2)
    ids = np.array([3, 1, 3])
    print(lookup(ids, E).tolist())
    print(lookup_backward(np.ones((3, 2)), ids, E).tolist())
    # end::run-lookup[]
