from types import SimpleNamespace
from typing import Any

from wallsplit_workloads.settings import peak_memory_bytes, settings


def torch(*, tf32: bool) -> Any:
    return SimpleNamespace(
        get_float32_matmul_precision=lambda: "high" if tf32 else "highest",
        backends=SimpleNamespace(
            cuda=SimpleNamespace(matmul=SimpleNamespace(allow_tf32=tf32)),
            cudnn=SimpleNamespace(allow_tf32=True, benchmark=False, deterministic=True),
        ),
        are_deterministic_algorithms_enabled=lambda: False,
        cuda=SimpleNamespace(max_memory_allocated=lambda: 100, max_memory_reserved=lambda: 200),
    )


def test_each_imported_framework_tells_its_precision_and_determinism() -> None:
    told = settings({"torch": torch(tf32=True)})
    told.pop("blas", None)
    assert told == {
        "torch_matmul_precision": "high",
        "torch_tf32": True,
        "torch_cudnn_tf32": True,
        "torch_cudnn_benchmark": False,
        "torch_cudnn_deterministic": True,
        "torch_deterministic": False,
    }


def test_keras_tells_the_backend_it_really_uses() -> None:
    keras = SimpleNamespace(backend=SimpleNamespace(backend=lambda: "jax"))
    assert settings({"keras": keras})["keras_backend"] == "jax"


def test_under_jax_xla_is_on_and_a_precision_that_is_not_set_is_the_default() -> None:
    config = SimpleNamespace(jax_default_matmul_precision=None, jax_enable_x64=False)
    told = settings({"jax": SimpleNamespace(default_backend=lambda: "cpu", config=config)})
    assert (told["xla"], told["jax_backend"], told["jax_matmul_precision"]) == (True, "cpu", "default")


def test_what_a_version_cannot_be_asked_is_left_out_and_nothing_is_imported() -> None:
    assert {name for name in settings({"torch": SimpleNamespace(), "jax": None}) if name != "blas"} == set()


def test_the_frameworks_count_their_memory_of_a_gpu() -> None:
    device = SimpleNamespace(platform="gpu", memory_stats=lambda: {"peak_bytes_in_use": 7})
    of_tensorflow = SimpleNamespace(get_memory_info=lambda name: {"peak": 5, "current": 1})
    modules = {
        "torch": torch(tf32=False),
        "tensorflow": SimpleNamespace(config=SimpleNamespace(experimental=of_tensorflow)),
        "jax": SimpleNamespace(devices=lambda: [device]),
    }
    assert peak_memory_bytes(modules) == {"torch_allocated": 100, "torch_reserved": 200, "tensorflow": 5, "jax": 7}


def test_without_a_gpu_no_framework_counts_any() -> None:
    device = SimpleNamespace(platform="cpu", memory_stats=lambda: None)
    assert peak_memory_bytes({"jax": SimpleNamespace(devices=lambda: [device]), "torch": SimpleNamespace()}) == {}
