"""What the reconstructed Keras epoch takes from the published study, and all that it assumes or models beside."""

from typing import Final

NOTE: Final = (
    "Reconstructed from published figures, not recorded: only the epoch's wall time, the number of graph launches and "
    "the total CUDA API time are measurements of others; all else in this trace is assumed and listed."
)

_PARAGRAPHS: Final = """
Published: one epoch of Keras model.fit (MLP 784-128-10, MNIST, batch 32, Quadro RTX 5000, Core i9-10885H) takes 6.5 s
of wall time; the default window is exactly that.

Published: 1,500 training and 375 validation steps, one cuGraphLaunch each, 1,875 in all.

Published: CUDA API calls take 2.7 s in total, and none of them is arithmetic; how the 2.7 s divide over the calls, and
how much of it the GPU was idle, is not published.

Assumed: the first CUDA call opens the epoch and the last one ends it; one process, one thread, one stream.

Assumed: 2.3 s of the epoch pass once, before the first step (set-up, tracing, compilation), because published epochs do
not get shorter than about 2.3 s however large the batch; the other 4.2 s divide equally over the 1,875 steps, 2.240 ms
each, training and validation alike.

Assumed: API time is spread as wall time is, 41.5 %: 956.25 ms in the 2.3 s of set-up and 930 µs in each step.

Assumed: the 956.25 ms are one context (250 ms), 10 modules loaded (60 ms each), one device pool (6.25 ms), one pinned
pool (50 ms) and 2 graphs instantiated (25 ms each), each followed by 89.58 ms of host code.

Assumed: a step is 1,310 µs of host code, then four calls in a row: copy the batch in (45 µs), launch the graph (835
µs), copy the metrics out (45 µs), synchronize (5 µs).

So the 3.8 s outside CUDA calls are 1.34 s between the calls of set-up and 2.46 s at the head of the steps; how they
divide is not published, and nothing says what the host did in them.

The 45 µs of a copy call is 15 times the 3 µs its bytes take; published: 10 to 20 times.

The 835 µs of cuGraphLaunch is what the other calls leave of 930 µs, given to the one call the study names. It is far
above the published 5 to 15 µs of a kernel launch: the published figures do not explain the 2.7 s, and this trace cannot
either.

Modelled: 32 × 784 × 4 = 100,352 bytes per batch at the 32 GB/s of PCIe are 3.136 µs; labels are left out; the metrics
are 8 bytes, the copy takes the minimum of 2 µs.

Assumed: a training graph holds 7 kernels (3 forward, 3 backward, 1 update), a validation graph 3, element-wise work
fused into the matrix products; the published study lists no kernel.

Modelled: a kernel takes 2 µs, the assumed minimum, plus the FLOPs of its matrix product at 11.06 TFLOP/s (48 SMs × 64
lanes × 2 × 1.8 GHz, a multiply-add counted as two): 0.58 µs for the 6.42 MFLOP of layer 1.

Assumed: the first kernel starts 5 µs after its launch returns, further ones follow at 1 µs; a copy starts 2 µs after
its call returns.

Assumed: a block computes 32 × 32 results of a product with 256 threads (the update's blocks have 1,024), 32 registers
each, so the forward product of layer 1 has 4 blocks and reaches at most 4 of 48 SMs. Published: about 3 at batch 32,
about 42 at 2,048; tiles of 32 × 32 have 256 blocks there, and reach all 48.

Data sheet: 48 SMs, 16 GiB at 448 GB/s, compute capability 7.5; 1.8 GHz as published.

Every step is like every other: the published figures have no variation to repeat.
"""

ASSUMPTIONS: Final = tuple(" ".join(paragraph.split()) for paragraph in _PARAGRAPHS.strip().split("\n\n"))
"""One sentence or two per choice, with its numbers."""
