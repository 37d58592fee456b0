"""Recorded arrays of PyTorch and Hugging Face modules, and the names they have in our code."""

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "vectors"

# Our names of a block's arrays, and the recorded ones.
BLOCK_NAMES = {
    "gain_1": "g1", "gain_2": "g2", "bias_1": "b1n", "bias_2": "b2n",
    **{f"W_{part}": f"W{part}" for part in "qkvogud12"},
    **{f"b_{part}": f"b{part}" for part in "qkvo12"},
}
MODEL_NAMES = {
    "E": "E", "P": "P", "head": "head", "gain": "gain_f", "bias": "bias_f",
    **{f"blocks.{i}.{ours}": f"l{i}_{theirs}" for i in (0, 1) for ours, theirs in BLOCK_NAMES.items()},
}


class Reference:
    """One recorded file, which remembers the arrays that nobody has read or compared yet."""

    def __init__(self, name):
        self.arrays = dict(np.load(FOLDER / f"{name}.npz"))
        self.untouched = set(self.arrays)

    def __getitem__(self, name):
        self.untouched.discard(name)
        array = self.arrays[name]
        return array.item() if array.ndim == 0 else array

    def __contains__(self, name):
        return name in self.arrays

    def get(self, name, otherwise=None):
        self.untouched.discard(name)
        return self.arrays.get(name, np.array(otherwise)).tolist()

    def weights(self, names):
        return {ours: self[theirs] for ours, theirs in names.items() if theirs in self}

    def agrees(self, rtol=1e-9, atol=1e-11, **computed):
        for name, array in computed.items():
            np.testing.assert_allclose(array, self[name], rtol, atol, err_msg=name)
            assert np.shape(array) == np.shape(self[name]), name

    def gradients_agree(self, gradients, names):
        assert {names[ours] for ours in gradients} == {name for name in names.values() if f"g_{name}" in self}
        self.agrees(**{f"g_{names[ours]}": gradient for ours, gradient in gradients.items()})
