"""Promises of the shared mathematics: right derivatives, and FLOPs that repeat no published slip."""

import numpy as np
import pytest

from wallsplit_workloads import mlp


def test_the_model_has_101_770_parameters() -> None:
    assert mlp.shape().parameter_count == 101_770
    assert sum(weight.size for weight in mlp.initial_weights(0)) == 101_770


def test_one_layer_at_batch_32_is_6_4_mflop() -> None:
    assert mlp.forward_flops(32, (784, 128)) == 2 * 3_211_264


def test_backward_is_twice_forward_less_the_gradient_of_the_input() -> None:
    forward = 2 * 32 * (784 * 128 + 128 * 10)
    weight_gradients, hidden_gradient = forward, 2 * 32 * 128 * 10
    assert mlp.step_flops(32) == forward + weight_gradients + hidden_gradient


def test_an_epoch_counts_validation_forward_only() -> None:
    epoch = mlp.arithmetic(32, 48_000, 12_000)
    assert epoch.flops_per_epoch == 1_500 * mlp.step_flops(32) + 375 * mlp.forward_flops(32)
    assert epoch.bytes_per_step == 32 * 784 * 4
    assert mlp.arithmetic(32, 48_000, 0, models=5).flops_per_step == 5 * mlp.step_flops(32)


@pytest.mark.parametrize("which", range(4))
def test_gradients_are_the_slopes_of_the_loss(which: int) -> None:
    generator = np.random.default_rng(1)
    weights = [w.astype(np.float64) for w in mlp.initial_weights(1, (6, 5, 3))]
    x, targets = generator.random((4, 6)), mlp.one_hot(generator.integers(0, 3, 4), 3)

    def loss(shift: float, at: tuple[int, ...]) -> float:
        moved = [w.copy() for w in weights]
        moved[which][at] += shift
        w1, b1, w2, b2 = moved
        return float(mlp.scores(np, mlp.forward(np, (w1, b1, w2, b2), x)[1], targets)[0]) / 4

    w1, b1, w2, b2 = weights
    gradient = mlp.backward(np, (w1, b1, w2, b2), x, targets, mlp.forward(np, (w1, b1, w2, b2), x))[which]
    for at in np.ndindex(*gradient.shape):
        assert gradient[at] == pytest.approx((loss(1e-5, at) - loss(-1e-5, at)) / 2e-5, abs=1e-6)


def test_scores_are_the_sum_of_losses_and_the_number_right() -> None:
    log_probabilities = np.log(np.array([[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]], np.float32))
    total, right = mlp.scores(np, log_probabilities, mlp.one_hot(np.array([0, 1]), 3))
    assert total == pytest.approx(-np.log(0.5) - np.log(0.1), rel=1e-6)
    assert right == 1


def test_weights_depend_on_the_seed_alone() -> None:
    first, again, other = (mlp.initial_weights(seed)[0] for seed in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
