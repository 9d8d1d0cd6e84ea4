"""`wallsplit doctor`: what is installed here, and what each lack costs."""

import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

import click

from wallsplit import native
from wallsplit.errors import WallsplitError
from wallsplit.text import visible
from wallsplit_scripts import arrived, nsys, nvml, sampling
from wallsplit_scripts.builds import environment_of, is_cpu_build
from wallsplit_scripts.cache import cache_folder
from wallsplit_scripts.nvml import Nvml
from wallsplit_workloads import machine
from wallsplit_workloads.environment import Environment
from wallsplit_workloads.running import build_for

FRAMEWORKS = (  # extra that brings it, distributions, what it is for
    ("tensorflow", ("tensorflow", "tensorflow-cpu"), "the keras workloads"),
    ("jax", ("jax",), "the jax workloads"),
    ("torch", ("torch",), "the iris and cause-of-slowness workloads"),
    ("cupy", ("cupy-cuda12x", "cupy-cuda13x", "cupy"), "the cupy workloads"),
    ("word2vec", ("gensim",), "word2vec"),
)

NO_GPU = "no GPU workloads, no utilisation, memory or power beside a trace"
_ANY_NSYS = (9999,)  # without an nsys there is nothing to clash with

Verdict = Literal["ok", "lack", "info"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor: what was looked for, what is there, and what its lack costs."""

    subject: str
    verdict: Verdict
    found: str
    cost: str = ""


def examine(nsys_option: str | None = None) -> Iterator[Finding]:
    """Yield what this machine has, in the order a person would ask."""
    yield Finding("python", "ok", f"{platform.python_version()} at {sys.executable}")
    yield core_finding(native.REASON)
    found, why = _nsys(nsys_option)
    yield from _nsys_findings(found, why, platform.system())
    yield nvtx_finding(_installed(("nvtx",)), found)
    yield from gpu_findings(nvml.load(), _installed(("nvidia-ml-py",)))
    has_gpu = machine.gpu_lack() is None
    if has_gpu and not isinstance(found, WallsplitError):
        yield from cuda_finding(machine.cuda_major(), found.version)
    yield perf_finding(sampling.paranoid(), privileged=sampling.is_privileged())
    for family, distributions, purpose in FRAMEWORKS:
        yield framework_finding(family, distributions, purpose, environment_of(family), has_gpu=has_gpu)
    yield cache_finding(cache_folder())


def core_finding(lacking: str) -> Finding:
    """Return whether there is a compiled core, or why not."""
    if not lacking:
        return Finding("compiled core", "ok", native.LIBRARY.name)
    cost = "analyses of large traces take twice as long; nothing else differs"
    return Finding("compiled core", "lack", lacking, cost)


def _nsys(option: str | None) -> tuple[nsys.Nsys | WallsplitError, str]:
    """Return the nsys that would be run, or why there is none, and why this one."""
    try:
        _, why = nsys.choose(option)
        return nsys.find(option), why
    except WallsplitError as error:
        return error, ""


def _nsys_findings(found: nsys.Nsys | WallsplitError, why: str, system: str) -> Iterator[Finding]:
    cost = "no profiling and no opening of .nsys-rep files; exports (.sqlite) are analysed as ever"
    if isinstance(found, WallsplitError):
        yield Finding("nsys", "lack", str(found), cost)
        return
    yield Finding("nsys", "ok", f"{found.version_text} at {found.path}, {why}")
    if system != "Linux":
        yield Finding("capture", "lack", f"this is {system}", "`wallsplit profile` works on Linux alone")
    graphs = nsys.graph_granularity("auto", found.version)
    if graphs == "node":
        cost = "CUDA graphs are recorded node by node, which slows the program; 2024.3 and later record them whole"
        yield Finding("CUDA graphs", "info", f"traced by {graphs}", cost)


def nvtx_finding(version: str | None, found: nsys.Nsys | WallsplitError) -> Finding:
    """Return whether NVTX ranges pushed from Python arrive in a trace."""
    nsys_version = _ANY_NSYS if isinstance(found, WallsplitError) else found.version
    why = arrived.why_no_ranges(version, nsys_version)
    if why is None:
        return Finding("nvtx", "ok", str(version))
    return Finding("nvtx", "lack", why, "traces without steps and epochs")


def gpu_findings(library: Nvml | None, package: str | None) -> list[Finding]:
    """Return the GPUs and their driver, as NVML tells."""
    if library is None:
        driver = Path("/proc/driver/nvidia/version")
        there = "a driver, but NVML does not answer" if driver.exists() else "no NVIDIA driver"
        lack = there if package else f"{there}; nvidia-ml-py is not installed"
        return [Finding("gpu", "lack", lack, NO_GPU)]
    try:
        handles = [library.nvmlDeviceGetHandleByIndex(index) for index in range(library.nvmlDeviceGetCount())]
        return [
            *(Finding("gpu", "ok", _text(library.nvmlDeviceGetName(handle))) for handle in handles),
            Finding("driver", "ok", _text(library.nvmlSystemGetDriverVersion())),
        ]
    except library.NVMLError as error:
        return [Finding("gpu", "lack", f"a GPU that NVML cannot ask: {error}", NO_GPU)]


def perf_finding(paranoid: int | None, *, privileged: bool) -> Finding:
    """Return whether nsys may sample what the CPU executes."""
    if refused := sampling.kernel_refusal(paranoid, privileged=privileged):
        found, _, remedy = refused.partition("; ")
        cost = "nothing says what the CPU executes: of a CPU run not even arithmetic"
        return Finding("cpu sampling", "lack", found, f"{cost}; {remedy}" if remedy else cost)
    found = f"perf_event_paranoid is {paranoid}"
    if paranoid is not None and paranoid > sampling.KERNEL_LIMIT:
        cost = (
            f"system calls and page faults are in no sample; sysctl kernel.perf_event_paranoid={sampling.KERNEL_LIMIT}"
        )
        return Finding("cpu sampling", "ok", found, cost)
    return Finding("cpu sampling", "ok", found)


def cuda_finding(cuda: int, version: Sequence[int]) -> Iterator[Finding]:
    """Yield what programs of the newest CUDA that this driver runs ask of nsys, where this one is too old for them."""
    if blind := nsys.blind_to(cuda, version):
        yield Finding("nsys and CUDA", "info", f"the driver runs CUDA {cuda}", blind)


def framework_finding(
    family: str, distributions: Sequence[str], purpose: str, environment: Environment, *, has_gpu: bool
) -> Finding:
    """Return whether a framework is there, in a build that uses the GPU if there is one; it is not imported."""
    extra = f"wallsplit[{build_for(family, on_gpu=has_gpu)}]"
    version = next((found for name in distributions if (found := environment.version_of(name))), None)
    if version is None:
        return Finding(distributions[0], "info", "optional, not installed", f"for {purpose}: pip install '{extra}'")
    if has_gpu and is_cpu_build(family, environment):
        cost = (
            f"{purpose} cannot use the GPU; `make frameworks` puts a build that can ({extra}) into a .venv of its own"
        )
        return Finding(distributions[0], "lack", f"{version}, a build for the CPU beside a GPU", cost)
    where = "" if environment.path is None else f" in {Path(environment.python).parent.parent.name}"
    return Finding(distributions[0], "ok", f"{version}{where}")


def cache_finding(folder: Path) -> Finding:
    """Return how much the exports kept for later analyses take."""
    sizes = [file.stat().st_size for file in folder.glob("*.sqlite")]
    kept = f"{len(sizes)} exports, {sum(sizes) / 1e6:,.0f} MB, in {folder}" if sizes else f"empty, in {folder}"
    return Finding("export cache", "ok", kept)


def lines(findings: Sequence[Finding]) -> Iterator[str]:
    """Yield the findings as text, a line each and one more for what a lack costs."""
    width = max(len(finding.subject) for finding in findings)
    for finding in findings:
        mark = {"ok": "ok  ", "lack": "lack", "info": "note"}[finding.verdict]
        yield f"{mark}  {finding.subject:<{width}}  {visible(finding.found)}"
        if finding.cost:
            yield f"{'':<{width + 6}}  {visible(finding.cost)}"


def _installed(distributions: Sequence[str]) -> str | None:
    for distribution in distributions:
        try:
            return metadata.version(distribution)
        except metadata.PackageNotFoundError:
            continue
    return None


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value  # bytes before nvidia-ml-py 11.5


def in_short(findings: Sequence[Finding]) -> str:
    """Return what works here, in one line: analysing does wherever this runs."""
    lacks = {finding.subject for finding in findings if finding.verdict == "lack"}
    if "nsys" in lacks:
        return "You can analyse exports (.sqlite); you cannot record or open reports (.nsys-rep): no nsys here."
    if "capture" in lacks:
        return "You can analyse exports and reports; you cannot record: that works on Linux alone."
    if "gpu" in lacks:
        return "You can analyse, and record what runs on the CPU; you cannot record GPU work: no GPU here."
    return "You can analyse and record, on CPU and GPU."


@click.command("doctor")
@click.option("--nsys", "nsys_path", metavar="PATH", help="The nsys to ask.  [default: $WALLSPLIT_NSYS, .nsys, PATH]")
def doctor(nsys_path: str | None) -> None:
    """Tell what is installed here, and what each lack costs."""
    findings = list(examine(nsys_path))
    click.echo(in_short(findings))
    for line in lines(findings):
        click.echo(line)
