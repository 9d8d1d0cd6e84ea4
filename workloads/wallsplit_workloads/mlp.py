"""The mathematics every MNIST workload shares: a ReLU layer, a softmax layer, cross-entropy, plain SGD.

`xp` is numpy, cupy, jax.numpy or arrays.py's face of TensorFlow: the formulas are the same. Weights are a tuple
(w1, b1, w2, b2); x is (batch, in); targets are one-hot (batch, out); every array is float32.
"""

import itertools
from typing import Any

import numpy as np

from wallsplit.run.manifest import Arithmetic, ModelShape

LAYERS = (784, 128, 10)
Array = Any  # of whichever library xp is
Weights = tuple[Array, Array, Array, Array]

FORMULA = (
    "dense layers only, a multiply-add counts as 2: forward 2·B·in·out per layer; training 3 × forward less the first "
    "layer's input gradient 2·B·in·out, which nobody computes; bytes are the float32 samples a step is fed"
)


def initial_weights(seed: int, layers: tuple[int, int, int] = LAYERS) -> Weights:
    """Return Glorot-uniform float32 weights (Glorot and Bengio 2010, eq. 16), zero biases; the same everywhere."""
    generator = np.random.default_rng(seed)
    widths = list(itertools.pairwise(layers))
    limits = [np.sqrt(6 / (inputs + outputs)) for inputs, outputs in widths]
    w1, w2 = (
        generator.uniform(-limit, limit, width).astype(np.float32) for limit, width in zip(limits, widths, strict=True)
    )
    return w1, np.zeros(layers[1], np.float32), w2, np.zeros(layers[2], np.float32)


def one_hot(labels: Array, classes: int = LAYERS[-1]) -> Array:
    """Return labels (n,) as float32 rows (n, classes)."""
    return np.eye(classes, dtype=np.float32)[labels]


def forward(xp: Any, weights: Weights, x: Array) -> tuple[Array, Array]:
    """Return the hidden activations (batch, hidden) and the log-probabilities (batch, out)."""
    w1, b1, w2, b2 = weights
    hidden = xp.maximum(x @ w1 + b1, 0)
    logits = hidden @ w2 + b2
    shifted = logits - xp.max(logits, axis=1, keepdims=True)
    return hidden, shifted - xp.log(xp.sum(xp.exp(shifted), axis=1, keepdims=True))


def backward(xp: Any, weights: Weights, x: Array, targets: Array, passed: tuple[Array, Array]) -> Weights:
    """Return the gradients of the mean cross-entropy, in order of the weights; `passed`: what forward() returned."""
    hidden, log_probabilities = passed
    at_output = (xp.exp(log_probabilities) - targets) / np.float32(x.shape[0])
    at_hidden = (at_output @ xp.transpose(weights[2])) * xp.sign(hidden)  # after ReLU the sign is the slope, 0 or 1
    return (
        xp.transpose(x) @ at_hidden,
        xp.sum(at_hidden, axis=0),
        xp.transpose(hidden) @ at_output,
        xp.sum(at_output, axis=0),
    )


def updated(weights: Weights, gradients: Weights, rate: Any) -> Weights:
    """Return the weights one step of SGD further."""
    w1, b1, w2, b2 = (weight - rate * gradient for weight, gradient in zip(weights, gradients, strict=True))
    return w1, b1, w2, b2


def scores(xp: Any, log_probabilities: Array, targets: Array) -> Array:
    """Return (sum of the cross-entropies, number classified right) of a batch, as one float32 array of 2."""
    right = log_probabilities.argmax(axis=1) == targets.argmax(axis=1)
    return xp.stack([-(log_probabilities * targets).sum(), right.sum().astype(np.float32)])


def shape(layers: tuple[int, ...] = LAYERS) -> ModelShape:
    """Return the model's size; 784→128→10 has 101,770 parameters."""
    return ModelShape(sum((i + 1) * o for i, o in itertools.pairwise(layers)), layers)


def forward_flops(batch: int, layers: tuple[int, ...] = LAYERS) -> int:
    """Return the operations of the dense layers, forward: (32, 784) @ (784, 128) is 3.2 M multiply-adds, so 6.4 M."""
    return sum(2 * batch * i * o for i, o in itertools.pairwise(layers))


def step_flops(batch: int, layers: tuple[int, ...] = LAYERS) -> int:
    """Return the operations of the dense layers in one training step, by FORMULA."""
    return 3 * forward_flops(batch, layers) - 2 * batch * layers[0] * layers[1]


def arithmetic(
    batch: int, train: int, validation: int, layers: tuple[int, ...] = LAYERS, models: int = 1
) -> Arithmetic:
    """Return FLOPs and bytes of a full step and of an epoch over so many samples, for `models` trained at once."""
    sample_bytes = 4 * layers[0]
    return Arithmetic(
        formula=FORMULA,
        flops_per_step=models * step_flops(batch, layers),
        flops_per_validation_step=models * forward_flops(batch, layers) if validation else None,
        flops_per_epoch=models * (step_flops(train, layers) + forward_flops(validation, layers)),
        bytes_per_step=batch * sample_bytes,
        bytes_per_epoch=(train + validation) * sample_bytes,
    )
