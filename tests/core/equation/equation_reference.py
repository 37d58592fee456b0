"""NumPy functions that the equations of cases.toml are about; a row is a token and W is (in, out)."""

import math

import numpy as np


def rmsnorm(x, g, epsilon):
    return g * x / np.sqrt((x * x).mean(axis=-1, keepdims=True) + epsilon)


def rmsnorm_backward(upstream, x, g, epsilon):
    r = 1 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + epsilon)
    z = upstream * g
    c = (z * x).sum(axis=-1, keepdims=True)
    return r * z - x * r**3 * c / x.shape[-1], (upstream * x * r).reshape(-1, x.shape[-1]).sum(axis=0)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def silu(z):
    return z * sigmoid(z)


def swiglu(x, W_g, W_u, W_d):
    return (silu(x @ W_g) * (x @ W_u)) @ W_d


def swiglu_backward(upstream, x, W_g, W_u, W_d):
    x, upstream, single = np.atleast_2d(x), np.atleast_2d(upstream), x.ndim == 1
    z, up = x @ W_g, x @ W_u
    s = sigmoid(z)
    hidden = upstream @ W_d.T
    z_bar, up_bar = hidden * up * s * (1 + z * (1 - s)), hidden * z * s
    x_bar = z_bar @ W_g.T + up_bar @ W_u.T
    return x_bar[0] if single else x_bar, x.T @ z_bar, x.T @ up_bar, (z * s * up).T @ upstream


def softmax(z):
    powers = np.exp(z - z.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def softmax_backward(upstream, p):
    return p * (upstream - (upstream * p).sum(axis=-1, keepdims=True))


def causal_mask(n):
    return np.where(np.tril(np.ones((n, n))) > 0, 0.0, -np.inf)


def attention(Q, K, V, M):
    return softmax(Q @ K.T / np.sqrt(Q.shape[-1]) + M) @ V


def attention_backward(upstream, Q, K, V, M):
    a = softmax(Q @ K.T / np.sqrt(Q.shape[-1]) + M)
    s = softmax_backward(upstream @ V.T, a) / np.sqrt(Q.shape[-1])
    return s @ K, s.T @ Q, a.T @ upstream


def causal_attention(q, k, v):
    return attention(q, k, v, causal_mask(len(q)))


def small_block(x, A, B, g):
    normed = rmsnorm(x, g, 0.3)
    u = x + causal_attention(normed @ A, normed @ A, normed)
    return u, u + silu(rmsnorm(u, g, 0.3) @ B)


def residual_attention(X):
    normed = layer_norm(X, 1.0, 0.0, 0.3)
    return X + causal_attention(normed, normed, normed)


def tied_logits(h, E):
    return h @ E.T


def count_block(d, h):
    return 4 * d * d + 3 * d * h + 2 * d


def train_flops(N, D):
    return 6 * N * D + 2 * D


def count_gpt(L, d, V):
    return L * (12 * d * d + 13 * d) + V * d + 2 * d


def layer_norm(x, gamma, beta, epsilon):
    mean, variance = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + epsilon) + beta


def layer_norm_backward(upstream, x, epsilon):
    sigma = np.sqrt(x.var(axis=-1, keepdims=True) + epsilon)
    h = (x - x.mean(axis=-1, keepdims=True)) / sigma
    means = upstream.mean(axis=-1, keepdims=True), (upstream * h).mean(axis=-1, keepdims=True)
    return (upstream - means[0] - h * means[1]) / sigma


def mlp(x, W_1, b_1, W_2, b_2):
    return np.maximum(x @ W_1 + b_1, 0) @ W_2 + b_2


def cross_entropy(z, target):
    return -np.log(softmax(z))[target]


def lm_loss(z, y):
    return -np.log(softmax(z))[np.arange(len(y)), y].mean()


def lm_loss_backward(z, y):
    gradient = softmax(z)
    gradient[np.arange(len(y)), y] -= 1
    return gradient / len(y)


def multi_head(X, W_Q, W_K, W_V, W_O):
    heads = [causal_attention(X @ q, X @ k, X @ v) for q, k, v in zip(W_Q, W_K, W_V, strict=True)]
    return np.concatenate(heads, axis=-1) @ W_O


def rope(x, m):
    d = len(x)
    angle = m * 10000.0 ** (-np.arange(0, d, 2) / d)
    turned = np.empty(d)
    turned[0::2] = x[0::2] * np.cos(angle) - x[1::2] * np.sin(angle)
    turned[1::2] = x[0::2] * np.sin(angle) + x[1::2] * np.cos(angle)
    return turned


def sinusoidal(n, d):
    angle = np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)
    table = np.empty((n, d))
    table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return table


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def gelu_exact(x):
    return x / 2 * (1 + math.erf(x / math.sqrt(2)))


def adam(theta, g, m, v, t, eta, beta_1, beta_2, epsilon):
    m = beta_1 * m + (1 - beta_1) * g
    v = beta_2 * v + (1 - beta_2) * g * g
    m_hat, v_hat = m / (1 - beta_1**t), v / (1 - beta_2**t)
    return theta - eta * m_hat / (np.sqrt(v_hat) + epsilon), m, v


def adamw_step(theta, m_hat, v_hat, eta, epsilon, decay):
    return theta - eta * (m_hat / (np.sqrt(v_hat) + epsilon) + decay * theta)


def clip(g, c):
    return g * min(1, c / np.linalg.norm(g))


def cosine_lr(t, T, low, high):
    return low + 0.5 * (high - low) * (1 + math.cos(math.pi * t / T))


def noam_lr(t, d, w):
    return d**-0.5 * min(t**-0.5, t * w**-1.5)
