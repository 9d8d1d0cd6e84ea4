"""A program of equal steps, marked with NVTX: `python planted_steps.py PRODUCTS` multiplies so many matrices a step."""

import os
import sys

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # several spin while they wait for each other

import numpy as np
import nvtx

STEPS = 100


def main() -> None:
    products = int(sys.argv[1])
    matrix = np.random.default_rng(1).random((192, 192), np.float32)
    for number in range(STEPS):
        with nvtx.annotate(f"step {number}"):
            for _ in range(products):
                matrix @ matrix


if __name__ == "__main__":
    main()
