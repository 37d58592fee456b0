"""Gradients are compared where they are more than rounding, by every input; where none is, the check is refused."""

import numpy as np
import pytest
from equation_examples import checked

NOTATION = "x: matrix(n, d)\nW_q, W_k: matrix(d, d)\nb: vector(d)"
ATTENTION = r"y = \operatorname{softmax}\left(200 x W_q (x W_k)^\top\right) x"


def shares_of(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def attend(x, W_q, W_k):
    return shares_of(200 * x @ W_q @ (x @ W_k).T) @ x


def gradients_of(upstream, x, W_q, W_k):
    shares = shares_of(200 * x @ W_q @ (x @ W_k).T)
    shares_bar = upstream @ x.T
    scores_bar = 200 * shares * (shares_bar - (shares_bar * shares).sum(axis=-1, keepdims=True))
    by_query, by_key = scores_bar @ x @ W_k, scores_bar.T @ x @ W_q
    x_bar = by_query @ W_q.T + by_key @ W_k.T + shares.T @ upstream
    return x_bar, x.T @ by_query, x.T @ by_key


def attend_backward(upstream, x, W_q, W_k):
    return gradients_of(upstream, x, W_q, W_k)


def verdict_on(backward, function=attend, latex=ATTENTION):
    return checked(latex, NOTATION, "attend", {"attend": function, "attend_backward": backward})


def shifted(x, b):
    return shares_of(x + b @ b)


def shifted_backward(upstream, x, b):
    shares = shares_of(x)
    return shares * (upstream - (upstream * shares).sum(axis=-1, keepdims=True)), 0 * b


def test_at_the_usual_draws_a_softmax_of_products_lets_nothing_through():
    rng = np.random.default_rng(0)
    x, W_q, W_k, up = (rng.normal(0.2, 1.3, shape) for shape in ((5, 7), (7, 7), (7, 7), (5, 7)))
    x_bar, query_bar, _ = gradients_of(up, x, W_q, W_k)

    assert np.abs(query_bar).sum() < 1e-6 * np.abs(x_bar).sum()


def test_its_gradients_are_compared_all_the_same():
    verdict = verdict_on(attend_backward)

    assert verdict.passed, verdict.text
    assert verdict.gradients == ("x", "W_q", "W_k")


def test_a_wrong_one_is_found():
    def wrong(upstream, x, W_q, W_k):
        x_bar, query_bar, key_bar = gradients_of(upstream, x, W_q, W_k)
        return x_bar, 2 * query_bar, key_bar

    verdict = verdict_on(wrong)

    assert "the gradient of W_q by attend_backward differs from the equation's" in verdict.reason


def test_a_gradient_that_is_always_zero_is_refused():
    latex = r"y = \operatorname{softmax}(x + (b^\top b) \mathbf{1}_n \mathbf{1}_d^\top)"
    verdict = checked(latex, NOTATION, "shifted", {"shifted": shifted, "shifted_backward": shifted_backward})

    assert verdict.reason == (
        "the gradient of b is nothing but zeros or rounding at every draw, so comparing it proves nothing; "
        "name the other gradients with ':grad:'"
    )


def test_zeros_for_a_gradient_that_is_not_zero_are_a_difference():
    verdict = verdict_on(lambda upstream, x, W_q, W_k: (gradients_of(upstream, x, W_q, W_k)[0], 0 * W_q, 0 * W_k))

    assert not verdict.passed


@pytest.mark.parametrize("returned", [None, "text", {"a": 1}])
def test_a_gradient_that_is_no_array_is_named(returned):
    verdict = checked("y = 2x", "x: vector(d)", "double", {"double": double, "double_backward": lambda up, x: returned})

    kind = type(returned).__name__
    assert verdict.reason == f"double_backward returns a {kind} as the gradient of x; return an array"


def double(x):
    return 2 * x
