"""The rules that tell the class of a sample from where it was taken: the one table of them.

The first rule that matches decides. A module pattern is searched in the base name of the file, ignoring case; a symbol
pattern in the name of the function, and never where it has none.
"""

from wallsplit.frozen import dataclass


@dataclass(frozen=True)
class Rule:
    """A class and a group of it for the places in code whose module, and symbol where asked for, match."""

    sample_class: str
    group: str
    module: str
    symbol: str | None
    reason: str
    """What is there, or why the rule stands where it does."""


_EIGEN_WAITS = (
    r"Eigen::ThreadPoolTempl<.*(GlobalSteal|LocalSteal|\bSteal|WaitForWork|WorkerLoop|NonEmptyQueueIndex|SpinningTask"
    r"|EvaluateWork)|Eigen::(EventCount|RunQueue<.*>::(PopFront|PopBack|Size|Empty|PushFront|PushBack|CalculateSize))"
    r"|RunQueue<.*>::(PopFront|PopBack|Size|Empty)"
)
_EIGEN_LOOPS = (
    r"Eigen::internal::(gebp|gemm|gemv|general_matrix|dense_assignment|TensorExecutor|EvalRange|TensorBlock"
    r"|InnerMostDimReducer|FullReducer|ploadt|pexp|gemm_pack|triangular|outer_product|call_dense)"
    r"|Eigen::Tensor(Evaluator|Contraction|Reduction)|Eigen::internal::.*(gemm_pack|EvalRange|gebp|TensorBlock)"
    r"|gemm_pack_(col|row)major_block"
)
_KERNELS = (
    r"(^|[:_ ])(cblas_)?[sdchz]?(gemm|gemv|syrk|trsm|axpy|dot|scal)(_|\b|t$)|jit_.*(gemm|conv|kernel|copy)"
    r"|dnnl::impl::cpu::|ynn::|(^|::)xnn_|xnn[a-z_]*ukernel|^mkl_(blas|dnn|vml|sparse|lapack|dft)|mkl_vml|sleef|_fft"
)
"""Products and elementwise loops that several frameworks link in: BLAS, oneDNN, XNNPACK, MKL, SLEEF, FFTs."""

RULES: tuple[Rule, ...] = (
    Rule(
        "profiler",
        "nsys",
        (
            r"^(lib)?(ToolsInjection|InterceptorInjection|nvperf|cupti|nsys|InjectionNvtx|NvtxInjection|nvToolsExt"
            r"|Nvda\.|ToolsInterceptor)"
        ),
        None,
        "nsys' injection libraries and CUPTI: they call everything else, so they come first",
    ),
    Rule(
        "profiler", "nvtx binding", r"^(lib|profiler|_lib)\.cpython.*|^nvtx", r"nvtx", "Python's nvtx package, compiled"
    ),
    Rule("profiler", "nsys", r"^(lib)?nvtx", None, "the NVTX library itself"),
    Rule(
        "kernel",
        "kernel",
        (
            r"^\[kernel|^vmlinux|^ntoskrnl|\.ko(\.|$)|^\[guest\.kernel|^(win32k|hal|ntfs|dxgkrnl|tcpip)\b.*\.(sys"
            r"|dll)$|\.sys$"
        ),
        None,
        "drivers and images of the kernel, where nsys names them instead of marking the sample",
    ),
    Rule(
        "spin",
        "openblas",
        r"openblas|libblas|blis",
        (
            r"^(blas_thread_server|exec_threads|blas_thread_shutdown|bli_thread.*barrier|inner_thread_wait"
            r"|exec_blas_async_wait)$"
        ),
        "threads of the pool that wait for the next product (memory.c, blas_server.c of OpenBLAS; BLIS' barriers)",
    ),
    Rule(
        "spin",
        "openmp",
        r"^lib(gomp|i?omp5?|omp|kmp)\b|^lib(gomp|iomp|omp)[-.0-9]|^vcomp|libiomp5md",
        (
            r"barrier|do_spin|do_wait|^gomp_thread_start$|futex_wait|kmp_(flag|wait|fork_barrier|hyper|release"
            r"|launch)|__kmp.*(wait|barrier|yield|sleep)"
        ),
        "threads that wait at a barrier or for work (team.c and wait.h of libgomp; kmp_wait_release.h of LLVM)",
    ),
    Rule(
        "spin",
        "openmp (unnamed)",
        r"^lib(gomp|iomp5|omp)[-.0-9]",
        None,
        "OpenMP libraries are stripped; nearly all they do on a CPU is to wait",
    ),
    Rule(
        "spin",
        "eigen pool",
        r"tensorflow|jax|xla|torch|onnx|libtsl",
        _EIGEN_WAITS,
        "threads that look for work in each other's queues (Eigen's NonBlockingThreadPool.h)",
    ),
    Rule(
        "spin",
        "yield",
        r"^lib(c|pthread)[-.]",
        r"^(__)?sched_yield|pthread_spin_lock|^__pthread_yield",
        "a thread that gives its turn away, or turns in a spin lock",
    ),
    Rule(
        "cuda",
        "driver",
        r"^lib(cuda|nvcuvid|nvidia-|cudadebugger|nvdxgdmal)[.\-a-z]*|^nvcuda|^nvidia_uvm|^libdxcore",
        None,
        "NVIDIA's user-space driver",
    ),
    Rule("cuda", "runtime", r"^(lib)?cudart", None, "the CUDA runtime"),
    Rule(
        "cuda",
        "libraries",
        (
            r"^(lib)?(cublas|cudnn|cufft|curand|cusolver|cusparse|nvrtc|nvjitlink|nvjpeg|nvvm|cutensor|nvfatbin"
            r"|nvinfer|cufile)"
        ),
        None,
        "host side of NVIDIA's libraries",
    ),
    Rule(
        "comm",
        "nccl",
        r"^libn?rccl|^libnccl|^libnvshmem",
        None,
        "host side of NCCL, RCCL and NVSHMEM: proxies and progress",
    ),
    Rule(
        "comm",
        "mpi",
        (
            r"^lib(mpi|open-pal|open-rte|pmix|uct|ucp|ucs|ucm|fabric|hcoll|ocoms|mlx\d|ibverbs|sharp|psm|cxi|gloo"
            r"|prrte)|^(mca|hmca)_|^libcray.*mpi|^libpals"
        ),
        None,
        "Open MPI, MPICH, UCX, libfabric and what they load",
    ),
    Rule(
        "arithmetic",
        "blas",
        r"openblas|libblas|liblapack|^lib(mkl|blis|atlas|flexiblas|armpl|nvpl)|^mkl_|libxsmm|^Accelerate|veclib",
        None,
        "a BLAS or LAPACK; packing matrices counts as part of a product",
    ),
    Rule("arithmetic", "onednn", r"^lib(dnnl|mkldnn|onednn)", None, "oneDNN built as a library of its own"),
    Rule("arithmetic", "libm", r"^lib(m|mvec|svml|intlc|irc|imf|sleef|quadmath)[-.]", None, "elementary functions"),
    Rule(
        "data",
        "images",
        (
            r"^_imaging|^lib(jpeg|turbojpeg|png|tiff|webp|openjp|gif|avif|heif|opencv|av(codec|format|util)|swscale"
            r"|swresample|freetype)|^cv2|torchvision|^_?image\.|decord|^libdali"
        ),
        None,
        "image and video codecs",
    ),
    Rule(
        "data",
        "compression",
        (
            r"^lib(z|zstd|lz4|snappy|bz2|lzma|brotli\w*|deflate|blosc\w*|zlib\w*)[-.\d]|^(zlib|_bz2|_lzma|zlib-ng)\."
            r"|^zlib1|^_zstd"
        ),
        None,
        "compression",
    ),
    Rule(
        "data",
        "files and tables",
        (
            r"^lib(hdf5|arrow|parquet|lmdb|sqlite3|leveldb|rocksdb|protobuf)|^(_sqlite3|h5\w?|_conv|_pandas_\w+"
            r"|parsers|_lib_arrow|lib_parquet|_dataset|_parquet|_csv|_json|orjson|simdjson|_polars_runtime|polars)\W"
            r"|^polars|tokenizers|sentencepiece|^_message\."
        ),
        None,
        "HDF5, Arrow, SQLite, pandas' and Polars' readers, JSON, tokenizers",
    ),
    Rule(
        "data",
        "tf input pipeline",
        r"tensorflow|tsl",
        (
            r"tensorflow::data::|tsl::io::|tensorflow::io::|tensorflow::.*(DecodeImage|DecodeJpeg|DecodePng"
            r"|RecordReader|ExampleParser)|^snappy::|^jpeg_|^png_"
        ),
        "tf.data and the decoders that TensorFlow carries",
    ),
    Rule(
        "arithmetic",
        "numpy",
        r"^_multiarray_umath|^umath|^_umath_linalg|^_simd|^lapack_lite|^_pocketfft",
        (
            r"^(BOOL|BYTE|UBYTE|SHORT|USHORT|INT|UINT|LONG|ULONG|LONGLONG|ULONGLONG|HALF|FLOAT|DOUBLE|LONGDOUBLE"
            r"|CFLOAT|CDOUBLE|CLONGDOUBLE|DATETIME|TIMEDELTA|OBJECT|STRING|UNICODE)_|simd|npyv|pairwise_sum"
            r"|sum_of_products|einsum|sort|select|searchsorted|binsearch|_(contig|strided|aligned|masked|broadcast"
            r"|swap|cast)|(contig|strided|aligned|swap)_to_|transfer_function|fill|clip|take|nonzero|choose|matmul"
            r"|_dot$|pow|exp|log|sqrt|tanh|sin_|cos_|np::|copyto|memcpy|loop|hwy|[xyz]mm_vector|partition_unrolled"
            r"|pivot_results"
        ),
        "NumPy's inner loops, named after types and operations (numpy/_core/src)",
    ),
    Rule(
        "arithmetic",
        "random numbers",
        (
            r"^(_bounded_integers|_pcg64|_mt19937|_generator|_philox|_sfc64|mtrand|bit_generator|_common)\."
            r"|^libcurand_host"
        ),
        None,
        "NumPy's bit generators and distributions",
    ),
    Rule(
        "arithmetic",
        "torch kernels",
        r"^libtorch|^torch_cpu|^c10\.",
        _KERNELS
        + (
            r"|at::native::.*(DEFAULT|AVX2|AVX512|ZVECTOR|SVE)|at::native::.*(kernel|_loop|loop2d|cpublas)"
            r"|vectorized_(inner_)?(loop|reduction|outer)|at::vec::|VectorizedLoop2d"
            r"|c10::function_ref<void \(char\*\*, long const\*|fbgemm|at::native::.*cpu_(kernel|serial_kernel)"
        ),
        "ATen's vectorised kernels and what is linked into libtorch",
    ),
    Rule(
        "arithmetic",
        "eigen, onednn, xla kernels",
        r"tensorflow|jax|xla|_pywrap|tsl|onnxruntime|tflite|mindspore|paddle",
        _EIGEN_LOOPS
        + "|"
        + _KERNELS
        + (
            r"|tensorflow::(functor|LaunchMatMul|.*Kernel.*::operator\(\)).*Eigen|__xla_cpu_runtime|xla::cpu::.*(dot"
            r"|Convolution|ynn|Thunk::Execute.*kernel)|tensorflow::.*SparseXent.*Eigen"
            r"|std::_Function_handler<void \(long, long\), Eigen::"
        ),
        "kernels linked into TensorFlow, JAX and ONNX Runtime",
    ),
    Rule(
        "arithmetic",
        "word2vec loops",
        r"^(word2vec_inner|doc2vec_inner|fasttext_inner|_matutils)\.",
        None,
        "gensim's training loops",
    ),
    Rule(
        "arithmetic",
        "scientific libraries",
        (
            r"^(_?[a-z_]*)(linalg|lapack|fblas|flapack|sparsetools|_ellip|_decomp|_ufuncs|special|_flow|ndimage"
            r"|nd_image|_cdist|_pairwise|_tree|_libsvm|_k_means|_argkmin|_radius)[a-z_]*\.cpython|^libnumba|^libtbb"
        ),
        None,
        "compiled loops of SciPy and scikit-learn, Numba and TBB",
    ),
    Rule(
        "framework",
        "numpy",
        r"^_multiarray_umath|^umath|^_umath|^multiarray",
        None,
        "the rest of NumPy: dispatch, casting rules, iterators",
    ),
    Rule(
        "framework",
        "tensorflow",
        r"tensorflow|_pywrap|_tf_|^_dtypes\.|^_op_def|^flags_pybind|tflite|^libtsl|^_tfe|tf_session",
        None,
        "the rest of TensorFlow: dispatch, tracing, executors",
    ),
    Rule(
        "framework",
        "torch",
        r"^lib(torch|c10|shm|caffe2)|^torch|^_C\.|^c10|functorch|libtriton",
        None,
        "the rest of PyTorch: dispatcher, autograd, Python binding",
    ),
    Rule(
        "framework",
        "jax",
        r"jax|^xla_extension|^_jax|^libxla|^_xla|^weakref_lru|^libmlir",
        None,
        "the rest of JAX and XLA: tracing, compiling, dispatch",
    ),
    Rule(
        "framework",
        "other frameworks",
        (
            r"^lib(onnxruntime|mxnet|paddle|tvm|nvinfer|mindspore)|^cupy|^_cupy|^core\.cpython.*cupy|^libjulia"
            r"|^sys\.so$|^libLLVM|^_optree|^_wrapt|^_errors\.|ml_dtypes"
        ),
        None,
        "other frameworks, and the compilers they carry",
    ),
    Rule(
        "python",
        "garbage collector",
        r"^(lib)?python[0-9.]*",
        (
            r"^(gc_collect|visit_|subtract_refs|move_unreachable|untrack_|dict_traverse|deduce_unreachable|gc_"
            r"|subtype_traverse|tupletraverse|list_traverse|func_traverse|move_legacy|update_refs|handle_weakrefs"
            r"|delete_garbage|PyObject_IS_GC|mark_)"
        ),
        "CPython's cycle collector (gcmodule.c, gc.c)",
    ),
    Rule(
        "python",
        "allocator",
        r"^(lib)?python[0-9.]*",
        (
            r"^_?Py(Object|Mem|_Mem)_?(Raw)?_?(Malloc|Free|Calloc|Realloc)|^pymalloc|_PyObject_(Malloc|Free|Realloc"
            r"|Calloc|Alloc)|^(arena_|mi_|_mi_)|_Py_NewReference|object_dealloc|subtype_dealloc"
        ),
        "CPython's object allocator (obmalloc.c)",
    ),
    Rule(
        "python",
        "interpreter",
        r"^(lib)?python[23]?[0-9.]*(t|d|m)?(\.so.*|\.exe|\.dll|\.dylib)?$|^python\d*|^libpypy",
        None,
        "the interpreter loop and the built-in types",
    ),
    Rule(
        "python",
        "standard library",
        (
            r"^_?(struct|math|pickle|datetime|collections|random|socket|ssl|ctypes|hashlib|sha\w*|md5|blake2|bisect"
            r"|heapq|posix\w*|select|array|queue|asyncio|decimal|elementtree|multibytecodec|codecs_\w+|statistics"
            r"|contextvars|opcode|uuid|zoneinfo|multiprocessing|lsprof|unicodedata|fcntl|resource|termios|mmap"
            r"|binascii|cmath|operator|functools|io|typing|testcapi|yaml|psutil\w*|psutil_linux|rpds)\.(cpython|cp3"
            r"|abi3|pyd)"
        ),
        None,
        "extension modules of Python's standard library, and small ones like them",
    ),
    Rule("python", "cython modules", r"^(_cyutility|_cython_\w+)\.", None, "modules made by Cython that say no more"),
    Rule(
        "libc",
        "memory copy and set",
        r"^lib(c|ucrt\w*|msvcrt|vcruntime\w*)[-.\d]|^(ucrtbase|vcruntime|msvcrt)",
        r"mem(cpy|move|set|cmp|chr)",
        "copying and filling memory in the C library: whose memory, `callers` may tell",
    ),
    Rule(
        "libc",
        "allocator",
        r"^lib(c)[-.\d]",
        (
            r"malloc|^_?_?(int_)?free|calloc|realloc|memalign|arena|tcache|unlink_chunk|sysmalloc|systrim|morecore"
            r"|_mid_memalign"
        ),
        "the C library's allocator",
    ),
    Rule(
        "libc", "allocator", r"^lib(jemalloc|tcmalloc|mimalloc|hoard|tbbmalloc)", None, "allocators loaded in its place"
    ),
    Rule("libc", "loader", r"^ld(-|\.|64)|^libdl", None, "the dynamic loader"),
    Rule(
        "libc",
        "C and C++ library",
        (
            r"^lib(c|pthread|rt|stdc\+\+|c\+\+|gcc_s|unwind|util|resolv|atomic|musl|nss\w*|crypt|ffi)[-.\d_]|^\[(vdso"
            r"|vsyscall)|^(ntdll|kernel32|kernelbase|ucrtbase|vcruntime|msvcp|msvcrt|combase|user32)\b.*\.dll$"
        ),
        None,
        "the rest of the C and C++ libraries, and of Windows' system libraries",
    ),
    Rule("other", "cryptography", r"^lib(crypto|ssl|gcrypt|gnutls|nettle|mbed)", None, "encryption and checksums"),
)
