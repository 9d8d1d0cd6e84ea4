"""What the PyTorch workloads share: device and threads, layer ranges by module hooks, one step, the epoch loop."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from statistics import median
from time import perf_counter_ns
from typing import TYPE_CHECKING, Any

from wallsplit.errors import WallsplitError
from wallsplit.run.manifest import Epoch
from wallsplit_workloads.marks import Marks
from wallsplit_workloads.training import progress_line
from wallsplit_workloads.workload import RunContext

if TYPE_CHECKING:
    import torch

Batch = tuple[Any, Any]


def set_up(context: RunContext) -> "torch.device":
    """Return the device to train on; seeds the generators and sets the number of CPU threads if the context has one.

    Raises:
        WallsplitError: a GPU is wanted and PyTorch sees none.
    """
    import torch

    if context.device == "gpu" and not torch.cuda.is_available():
        raise WallsplitError("PyTorch sees no GPU; install a CUDA build of torch or run on the CPU")
    torch.manual_seed(context.integer("seed"))
    threads = context.optional_integer("threads")
    if threads is not None:
        torch.set_num_threads(threads)
    return torch.device("cuda" if context.device == "gpu" else "cpu")


def threads() -> dict[str, int]:
    """Return the number of threads PyTorch computes with inside one operation."""
    import torch

    return {"torch_intra_op": torch.get_num_threads()}


def perceptron(layers: tuple[int, ...]) -> "torch.nn.Sequential":
    """Return dense layers of these widths, ReLU between them, logits at the end; PyTorch's own initial weights."""
    import torch

    modules: list[torch.nn.Module] = []
    for inputs, outputs in itertools.pairwise(layers):
        modules += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*modules[:-1])


def mark_layers(model: "torch.nn.Module", marks: Marks) -> None:
    """Have every leaf layer of the model push and pop its own range.

    `__call__` fires the hooks; calling a layer's `.forward()` would skip them. Where nobody records there are none, for
    a module without hooks takes a shorter way.
    """
    if not marks.records:
        return
    for name, layer in model.named_modules():
        if next(layer.children(), None) is None:
            mark = f"{type(layer).__name__} {name}"
            layer.register_forward_pre_hook(lambda *_, mark=mark: marks.push(mark))
            layer.register_forward_hook(lambda *_: marks.pop())


def waited(device: "torch.device") -> None:
    """Return when the device has done what was asked of it; a CPU has, whenever a call returns."""
    import torch

    if device.type == "cuda":
        torch.cuda.synchronize(device)


def called_and_forwarded(model: "torch.nn.Module", x: Any, times: int = 200) -> list[dict[str, object]]:
    """Return what `model(x)` and `model.forward(x)` do: modules whose hooks fire, and the host's median ns of a call.

    `__call__` runs the hooks around `forward`, so calling `forward` directly skips those of the module it is called on;
    inside, modules call each other and keep theirs. No hook is registered while the calls are timed.
    """
    import torch

    ways = {"model(x)": model, "model.forward(x)": model.forward}
    fired: dict[str, list[str]] = {way: [] for way in ways}
    times_ns: dict[str, list[int]] = {way: [] for way in ways}
    with torch.no_grad():
        for way, call in ways.items():
            hooks = [
                module.register_forward_pre_hook(lambda *_, name=name, way=way: fired[way].append(name or "model"))
                for name, module in model.named_modules()
            ]
            call(x)
            for hook in hooks:
                hook.remove()
        for _ in range(times):  # in turns, so that what else the machine does meets both
            for way, call in ways.items():
                start = perf_counter_ns()
                call(x)
                times_ns[way].append(perf_counter_ns() - start)
    return [{"way": way, "hooks_fired": fired[way], "median_ns": int(median(times_ns[way]))} for way in ways]


def step(
    marks: Marks,
    model: Any,
    optimizer: Any,
    x: Any,
    y: Any,
    precision: AbstractContextManager[Any] | None = None,
    scaler: Any = None,
) -> Any:
    """Return the loss, still on the device, of one marked step of training; a scaler keeps fp16 gradients from 0."""
    import torch

    with marks("forward"), precision or nullcontext():
        loss = torch.nn.functional.cross_entropy(model(x), y)
    with marks("backward"):
        optimizer.zero_grad()
        (loss if scaler is None else scaler.scale(loss)).backward()
    with marks("update"):
        if scaler is None:
            optimizer.step()
        else:
            scaler.step(optimizer)
            scaler.update()
    return loss.detach()


def scores(model: Any, x: Any, y: Any) -> tuple[float, float]:
    """Return mean cross-entropy and accuracy of the model on these samples, fetched from the device."""
    import torch

    with torch.no_grad():
        logits = model(x)
        loss = torch.nn.functional.cross_entropy(logits.float(), y)
        right = (logits.argmax(dim=1) == y).float().mean()
    return loss.item(), right.item()


def fit(
    context: RunContext,
    batches: Callable[[], Iterator[Batch]],
    steps: int,
    train: Callable[[Any, Any], Any],
    validate: Callable[[], tuple[float, float]] | None = None,
) -> tuple[tuple[Epoch, ...], tuple[int, ...]]:
    """Return the wall times of epochs and of steps in ns; `train` takes a batch and returns its mean loss.

    `validate` returns loss and accuracy after an epoch.

    The losses are added up on the device and fetched once an epoch, so this loop itself makes nobody wait.
    """
    marks, epochs, step_wall_ns = context.marks, [], []
    for number in range(context.integer("epochs")):
        start = perf_counter_ns()
        with marks("epoch"):
            iterator, total, samples = batches(), 0.0, 0
            for _ in range(steps):
                step_start = perf_counter_ns()
                with marks("step"):
                    with marks("data"):
                        x, y = next(iterator)
                    loss = train(x, y)
                    with marks("metrics"):
                        total, samples = total + loss * len(y), samples + len(y)
                step_wall_ns.append(perf_counter_ns() - step_start)
            mean_loss = float(total) / samples
            trained_ns = perf_counter_ns() - start
            validated: tuple[float | None, float | None] = (None, None)
            if validate is not None:
                with marks("validation"):
                    validated = validate()
        wall_ns = perf_counter_ns() - start
        epochs.append(Epoch(wall_ns, trained_ns if validate else None, mean_loss, None, *validated))
        context.progress(progress_line(number, epochs[-1]))
    return tuple(epochs), tuple(step_wall_ns)
