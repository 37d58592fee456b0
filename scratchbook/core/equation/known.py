"""The functions that every reader knows, by whatever capitals an author writes them in."""

from __future__ import annotations

from typing import Final

# Functions of one number, whose power stands before the brackets; behind them it could mean two things.
ELEMENTARY: Final = [
    "exp", "log", "ln", "lg", "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "sech",
    "arcsin", "arccos", "arctan", "arsinh", "arcosh", "artanh", "erf",
]  # fmt: skip
PREFIX: Final = frozenset([*ELEMENTARY, "det", "logdet"])
# Words: the spelling here is the one that `primitives` computes; case, '_' and '-' of the author's word do not count.
WORDS: Final = [
    *ELEMENTARY,
    "sqrt", "abs", "sign", "max", "min", "argmax", "argmin", "sum", "mean", "var", "std", "softmax",
    "log_softmax", "logsumexp", "logaddexp", "sigmoid", "logit", "relu", "silu", "swish", "gelu", "softplus",
    "softsign", "elu", "hardtanh", "tr", "det", "logdet", "diag", "concat", "norm", "clip", "floor", "ceil",
    "round", "mod",
]  # fmt: skip
ALIASES: Final = {
    "sgn": "sign", "lse": "logsumexp", "avg": "mean", "average": "mean", "variance": "var", "trace": "tr",
    "concatenate": "concat", "cat": "concat",
    "arcsinh": "arsinh", "arccosh": "arcosh", "arctanh": "artanh", "asinh": "arsinh", "acosh": "arcosh",
    "atanh": "artanh", "asin": "arcsin", "acos": "arccos", "atan": "arctan",
    "logistic": "sigmoid", "hadamard": "", "expm": "",
}  # fmt: skip
SPELLINGS: Final = {word.replace("_", ""): word for word in WORDS} | {
    alias: word for alias, word in ALIASES.items() if word
}
# Letters that are functions when brackets follow.
LETTERS: Final = {
    r"\sigma": "sigmoid", r"\Phi": r"\Phi", r"\Gamma": r"\Gamma", r"\mathbb{E}": "mean", r"\mathcal{N}": "gaussian",
}  # fmt: skip
# Functions of a whole vector that an index below turns into an operator over that index.
REDUCERS: Final = frozenset(
    ["max", "min", "argmax", "argmin", "mean", "softmax", "logsumexp", "var", "std", "sum", "log_softmax"]
)


def known_function(base: str, follower: str = "(") -> str:
    r"""The spelling of a known function, or nothing.  follower: the sign after it; \sigma and E are functions before
    brackets only."""
    if base.endswith(r"{\mathbb{E}}"):  # with an accent: the mean of a sample
        base = r"\mathbb{E}"
    if base in LETTERS:
        return LETTERS[base] if follower in ("(", "[", r"\{") else ""
    if base == "E":
        return "mean" if follower == "[" else ""
    if len(base) == 1 or "\\" in base:
        return ""
    return SPELLINGS.get(base.lower().replace("_", "").replace("-", ""), "")
