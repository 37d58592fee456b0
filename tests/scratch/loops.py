"""The same mathematics, one number at a time: slow, obvious, and written from the formulas alone."""

import cmath
import math


def rmsnorm(row, gain, epsilon):
    mean_square = sum(number * number for number in row) / len(row)
    return [g * number / math.sqrt(mean_square + epsilon) for number, g in zip(row, gain, strict=True)]


def layernorm(row, gain, bias, epsilon):
    mean = sum(row) / len(row)
    variance = sum((number - mean) ** 2 for number in row) / len(row)
    normal = [(number - mean) / math.sqrt(variance + epsilon) for number in row]
    return [g * number + b for number, g, b in zip(normal, gain, bias, strict=True)]


def softmax(row):
    total = sum(math.exp(number) for number in row)
    return [math.exp(number) / total for number in row]


def times(row, W):
    return [sum(row[i] * W[i][j] for i in range(len(row))) for j in range(len(W[0]))]


def silu(z):
    return z / (1 + math.exp(-z))


def relu(z):
    return z if z > 0 else 0.0


def gelu(z):
    return z / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z * z * z)))


def gelu_erf(z):
    return z / 2 * (1 + math.erf(z / math.sqrt(2)))


def swiglu(row, W_g, W_u, W_d):
    return times([silu(z) * up for z, up in zip(times(row, W_g), times(row, W_u), strict=True)], W_d)


def mlp(row, W_1, b_1, W_2, b_2):
    hidden = [relu(z + b) for z, b in zip(times(row, W_1), b_1, strict=True)]
    return [z + b for z, b in zip(times(hidden, W_2), b_2, strict=True)]


def rope(row, position, base):
    """Each pair of neighbours is one complex number, turned by its own angle."""
    turned = []
    for i in range(0, len(row), 2):
        angle = position * base ** (-i / len(row))
        pair = complex(row[i], row[i + 1]) * cmath.exp(1j * angle)
        turned += [pair.real, pair.imag]
    return turned


def causal_attention(Q, K, V):
    """One head: row i reads rows 0 to i."""
    mixed = []
    for i, query in enumerate(Q):
        scores = [sum(q * k for q, k in zip(query, K[j], strict=True)) / math.sqrt(len(query)) for j in range(i + 1)]
        shares = softmax(scores)
        mixed.append([sum(share * V[j][c] for j, share in enumerate(shares)) for c in range(len(V[0]))])
    return mixed


def grouped_attention(x, W_q, W_k, W_v, W_o, n_heads, n_kv_heads, base):
    """All heads, turned; query head h reads key-value head h // (n_heads / n_kv_heads)."""
    d_head = len(W_q[0]) // n_heads

    def head_of(W, head, is_turned):
        columns = [[line[head * d_head + c] for c in range(d_head)] for line in W]
        heads = [times(row, columns) for row in x]
        return [rope(row, position, base) for position, row in enumerate(heads)] if is_turned else heads

    merged = [[] for _ in x]
    for head in range(n_heads):
        shared = head // (n_heads // n_kv_heads)
        mixed = causal_attention(head_of(W_q, head, True), head_of(W_k, shared, True), head_of(W_v, shared, False))
        merged = [row + more for row, more in zip(merged, mixed, strict=True)]
    return [times(row, W_o) for row in merged]


def block(x, weights, n_heads, n_kv_heads, epsilon, base):
    """The pre-norm block, one row after another."""
    read = [rmsnorm(row, weights["gain_1"], epsilon) for row in x]
    matrices = (weights[name] for name in ("W_q", "W_k", "W_v", "W_o"))
    attended = grouped_attention(read, *matrices, n_heads, n_kv_heads, base)
    u = [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(x, attended, strict=True)]
    written = []
    for row in u:
        worked = swiglu(rmsnorm(row, weights["gain_2"], epsilon), weights["W_g"], weights["W_u"], weights["W_d"])
        written.append([a + b for a, b in zip(row, worked, strict=True)])
    return written


def cross_entropy(logits, targets, kept):
    surprises = [-math.log(softmax(row)[t]) for row, t, k in zip(logits, targets, kept, strict=True) if k]
    return sum(surprises) / len(surprises)


def sinusoidal(n_tokens, d):
    table = []
    for position in range(n_tokens):
        row = []
        for i in range(0, d, 2):
            row += [math.sin(position / 10000 ** (i / d)), math.cos(position / 10000 ** (i / d))]
        table.append(row)
    return table


def embedding_gradient(upstream, ids, n_vocab):
    gradient = [[0.0] * len(upstream[0]) for _ in range(n_vocab)]
    for row, i in zip(upstream, ids, strict=True):
        for c, number in enumerate(row):
            gradient[i][c] += number
    return gradient


def language_model(ids, E, layers, gain, n_heads, n_kv_heads, epsilon, base):
    """Rows of the ids, block after block, a last norm, and the likeness to every row of E."""
    x = [E[i] for i in ids]
    for weights in layers:
        x = block(x, weights, n_heads, n_kv_heads, epsilon, base)
    hidden = [rmsnorm(row, gain, epsilon) for row in x]
    return [[sum(a * b for a, b in zip(row, token, strict=True)) for token in E] for row in hidden]


def adamw(weight, gradients, rate, beta_1, beta_2, epsilon, decay):
    """One weight, step after step, as algorithm 2 of loshchilov2017adamw writes it."""
    m = v = 0.0
    for t, gradient in enumerate(gradients, start=1):
        m = beta_1 * m + (1 - beta_1) * gradient
        v = beta_2 * v + (1 - beta_2) * gradient**2
        step = (m / (1 - beta_1**t)) / (math.sqrt(v / (1 - beta_2**t)) + epsilon)
        weight = weight - rate * step - rate * decay * weight
    return weight


def top_p(row, p):
    """The ids that stay: the likeliest first, until they reach p together."""
    probabilities, kept, reached = softmax(row), set(), 0.0
    for token in sorted(range(len(row)), key=lambda token: -probabilities[token]):
        if reached >= p:
            break
        kept.add(token)
        reached += probabilities[token]
    return kept


def slowed(theta, factor):
    """Position interpolation: every pair turns so much less that a context factor times longer looks as the old one."""
    return [angle / factor for angle in theta]


def llama3(theta, factor, trained_length, low, high):
    """By wavelength, the tokens of one whole turn, as the code released with Llama 3.1 has it."""
    scaled = []
    for angle in theta:
        wavelength = 2 * math.pi / angle
        if wavelength < trained_length / high:
            scaled.append(angle)
        elif wavelength > trained_length / low:
            scaled.append(angle / factor)
        else:
            smooth = (trained_length / wavelength - low) / (high - low)
            scaled.append((1 - smooth) * angle / factor + smooth * angle)
    return scaled


def turns(pair, d, trained_length, base):
    """How often a pair of columns goes round within the trained length."""
    return trained_length * base ** (-2 * pair / d) / (2 * math.pi)


def yarn(d, factor, trained_length, base, slow, fast):
    """From the last pair that turns fast to the first that turns slowly, the share of interpolation grows evenly."""
    first, last = 0, d - 1
    for pair in range(d):
        if turns(pair, d, trained_length, base) >= fast:
            first = pair
    for pair in reversed(range(d)):
        if turns(pair, d, trained_length, base) <= slow:
            last = pair
    scaled = []
    for pair in range(d // 2):
        angle = base ** (-2 * pair / d)
        share = 0.0 if pair <= first else 1.0 if pair >= last else (pair - first) / (last - first)
        scaled.append((1 - share) * angle + share * angle / factor)
    return scaled


def scheduled_rate(step, n_steps, peak, n_warmup, floor):
    """Equal steps up to the peak; then from the peak to its share by the square of a cosine's quarter wave."""
    rate = 0.0
    for _ in range(min(step + 1, n_warmup)):
        rate += peak / n_warmup
    if step < n_warmup:
        return rate
    steps_down, lowest = n_steps - 1 - n_warmup, floor * peak
    angle = 0.0 if steps_down == 0 else math.pi / 2 * (step - n_warmup) / steps_down
    return lowest + (peak - lowest) * math.cos(angle) ** 2


def clip(gradient, limit):
    """The length a millionth too long, so that rounding stays on the right side."""
    length = math.sqrt(sum(number * number for number in gradient))
    if length + 1e-6 <= limit:
        return gradient, length
    return [number / (length + 1e-6) * limit for number in gradient], length


def top_k(row, k):
    """The ids that stay: those that fewer than k others beat."""
    return {token for token, number in enumerate(row) if sum(other > number for other in row) < k}


def distribution(row, temperature, k, p):
    """What the temperature makes of the scores; of those who stay after both cuts, each its part of the whole."""
    row = [number / temperature for number in row]
    kept = set(range(len(row))) if k is None else top_k(row, k)
    if p is not None:
        places = sorted(kept)
        kept = {places[i] for i in top_p([row[place] for place in places], p)}
    total = sum(math.exp(row[token]) for token in kept)
    return [math.exp(number) / total if token in kept else 0.0 for token, number in enumerate(row)]


def draw(probabilities, point):
    """The token on whose stretch of 0..1 the point lies."""
    reached = 0.0
    for token, probability in enumerate(probabilities):
        reached += probability
        if point < reached:
            return token
    return len(probabilities) - 1
