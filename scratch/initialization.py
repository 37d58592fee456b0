"""Name, size and draw the weights of a new model.  Sizes in, a dict of arrays out."""

import numpy as np

from refusals import check_count
from transformer import join_layers
from variants import LLAMA, NORMS, check_variant


# tag::block-shapes[]
def block_shapes(n_model, n_hidden, n_keys, variant=LLAMA):
    """Name and size every array of one block.

    n_keys: columns of the key matrix, key-value heads times the head width
    """
    check_variant(variant)
    check_sizes(n_model=n_model, n_hidden=n_hidden, n_keys=n_keys)
    d, h = n_model, n_hidden
    shapes = {"W_q": (d, d), "W_k": (d, n_keys), "W_v": (d, n_keys), "W_o": (d, d)}
    if variant.feed_forward == "swiglu":
        shapes |= {"W_g": (d, h), "W_u": (d, h), "W_d": (h, d)}
    else:
        shapes |= {"W_1": (d, h), "W_2": (h, d)}
    biased = {"none": "", "queries": "qkv", "all": "qkvo12"}[variant.biases]
    for part in biased:
        if f"W_{part}" in shapes:
            shapes[f"b_{part}"] = shapes[f"W_{part}"][1:]
    for place in ("_1", "_2"):
        shapes |= {part + place: (d,) for part in NORMS[variant.norm][2]}
    return shapes
# end::block-shapes[]


# tag::weight-shapes[]
def weight_shapes(
    n_vocab, n_model, n_hidden, n_layers, n_keys=None, variant=LLAMA,
    max_context=None,
):
    """Name and size every array of a model.

    n_keys: if heads share keys, as in block_shapes   -> a dict, name to shape
    Raises OutOfRangeError for a size or a choice that no model has.
    """
    check_sizes(n_vocab=n_vocab, n_model=n_model, n_layers=n_layers)
    n_keys = n_model if n_keys is None else n_keys
    one = block_shapes(n_model, n_hidden, n_keys, variant)
    shapes = {"E": (n_vocab, n_model), **join_layers([one] * n_layers)}
    if variant.positions == "learned":
        check_sizes(max_context=max_context)
        shapes["P"] = (max_context, n_model)
    if variant.norm_first:
        shapes |= dict.fromkeys(NORMS[variant.norm][2], (n_model,))
    return shapes if variant.is_tied else shapes | {"head": (n_model, n_vocab)}
# end::weight-shapes[]


def check_sizes(**sizes):
    """Refuse sizes that no model has."""
    for name, size in sizes.items():
        check_count(name, size)


# tag::initial-weights[]
def initial_weights(generator, shapes):
    """Draw weights that keep rows at about the size they had.

    Gains are one, biases zero, matrices smaller the more numbers they add up.

    generator: numpy.random.Generator   shapes: as weight_shapes names them
    -> a dict of arrays
    """
    n_sums = 2 * sum(name.endswith("W_o") for name in shapes)
    weights = {}
    for name, shape in shapes.items():
        part = name.rpartition(".")[2]
        if part.startswith(("gain", "b")):
            weights[name] = np.full(shape, 1.0 if part.startswith("gain") else 0.0)
            continue
        # E and P are read by row, so their width is the last axis.
        # What is added to the stream is made smaller: the stream sums all of it.
        width = shape[-1] if part in ("E", "P") else shape[0]
        share = n_sums**-0.5 if part in ("W_o", "W_d", "W_2") else 1.0
        weights[name] = generator.normal(0.0, share * width**-0.5, shape)
    return weights
# end::initial-weights[]
