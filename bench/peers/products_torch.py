"""Our matrix products beside torch.matmul, in one process: the kernel files' machine code, made by nvcc, launched through the driver, both
inside CUDA graphs. TILES: matmul_wmma in all its tiles, WARPGROUPS: matmul_wgmma, by default both.

python3 products_torch.py [tiles|warpgroups]"""
import concurrent.futures
import ctypes
import itertools
import pathlib
import statistics
import subprocess
import sys
import tempfile

import torch

HERE = pathlib.Path(__file__).resolve().parent.parent.parent
KERNELS = HERE / "tenon-cuda/src/main/resources/dev/tenon/cuda/kernels"
TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "float": torch.float32}
# rows, columns, rows and columns of a warp, stages, lag (ProductCatalog.Tile)
TILES = {
    "128x256w": (128, 256, 16, 256, 4, 2), "128x128w": (128, 128, 16, 128, 4, 2), "64x128w": (64, 128, 16, 128, 4, 1),
    "64x64w": (64, 64, 16, 64, 4, 1), "128x256": (128, 256, 64, 64, 3, 0), "128x128": (128, 128, 64, 64, 3, 0),
    "128x64": (128, 64, 64, 32, 4, 0), "64x64": (64, 64, 32, 32, 4, 0), "32x64": (32, 64, 16, 32, 5, 0),
    "16x64": (16, 64, 16, 16, 6, 0)}
torch.backends.cuda.matmul.allow_tf32 = True
torch.zeros(1, device="cuda")
cuda = ctypes.CDLL("libcuda.so.1")
folder = tempfile.mkdtemp()
functions = {}


def check(status, what):
    if status:
        raise RuntimeError(f"{what}: CUDA error {status}")


def compiled(path, defines):
    cubin = f"{folder}/{'_'.join([pathlib.Path(path).stem, *defines]).replace('=', '-')}.cubin"
    if not pathlib.Path(cubin).exists():
        subprocess.run(["nvcc", "-gencode=arch=compute_90a,code=sm_90a", "-cubin", "-o", cubin, f"-I{KERNELS}/include",
                        "-DTENON_SUFFIX=", *(f"-D{one}" for one in defines), str(KERNELS / path)], check=True)
    return cubin


def function(path, entry, defines, shared):
    key = (entry, tuple(defines), shared)
    if key not in functions:
        cubin = compiled(path, defines)
        module, found = ctypes.c_void_p(), ctypes.c_void_p()
        check(cuda.cuModuleLoad(ctypes.byref(module), cubin.encode()), cubin)
        check(cuda.cuModuleGetFunction(ctypes.byref(found), module, entry.encode()), entry)
        if shared > 48 << 10:
            check(cuda.cuFuncSetAttribute(found, 8, shared), "shared memory")
        functions[key] = found
    return functions[key]


def launch(found, blocks, threads, shared, arguments):
    values = [ctypes.c_void_p(a.data_ptr()) if isinstance(a, torch.Tensor) else ctypes.c_void_p(0) if a is None else a for a in arguments]
    pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    check(cuda.cuLaunchKernel(found, blocks, 1, 1, threads, 1, 1, shared, stream, pointers, None), "launch")


def device_us(work, calls):
    stream = torch.cuda.Stream()
    times = []
    with torch.cuda.stream(stream):
        work(0)
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for i in range(calls):
                work(i)
        for _ in range(6):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record(stream)
            graph.replay()
            end.record(stream)
            stream.synchronize()
            times.append(start.elapsed_time(end) * 1000 / calls)
    return statistics.median(times[1:])


def report(what, us, peer, flops, y, expected):
    error = ((y.double() - expected).norm() / expected.norm()).item()
    print(f"{what:44s} {us:9.1f} us {flops / us / 1e6:6.1f} TFLOP/s | torch {peer:9.1f} us {flops / peer / 1e6:6.1f} | {peer / us:5.2f}"
          f" | error {error:.1e}{'' if error < 1e-2 else ' WRONG'}", flush=True)


def tiled(name, kind, along_b, m, n, k, splits=1):
    rows, columns, warp_rows, warp_columns, stages, lag = TILES[name]
    shared = max(stages * (rows + columns) * 128, rows * (columns + 8) * 4) + (1024 if lag else 0)
    found = function("contraction/matmul_wmma.cu", "matmul_wmma", [
        f"TENON_T={kind}", f"TENON_TILE_M={rows}", f"TENON_TILE_N={columns}", f"TENON_WARP_M={warp_rows}", f"TENON_WARP_N={warp_columns}",
        f"TENON_STAGES={stages}", f"TENON_LAG={lag}", "TENON_ALONG_A=1", f"TENON_ALONG_B={int(along_b)}", "TENON_PACKED=1", "TENON_FROM=800"], shared)
    a = torch.randn(m, k, device="cuda").to(TYPES[kind])
    b = torch.randn((n, k) if along_b else (k, n), device="cuda").to(TYPES[kind])
    right = b.t() if along_b else b
    y = torch.full((m, n), float("nan"), device="cuda", dtype=TYPES[kind])
    tiles = -(-m // rows) * -(-n // columns)
    partial = torch.empty(tiles * splits * rows * columns if splits > 1 else 4, device="cuda")
    counters = torch.zeros(tiles, device="cuda", dtype=torch.int32)
    long, integer, real = ctypes.c_longlong, ctypes.c_int, ctypes.c_float
    arguments = [a, b, None, None, y, long(m), long(n), long(k), *(long(1) for _ in range(4)), *(long(0) for _ in range(8)), integer(0),
                 real(0), real(0), integer(7), integer(splits), partial, counters]
    threads = rows // warp_rows * (columns // warp_columns) * 32
    calls = 4 if m * n * k > 1 << 38 else 10
    us = device_us(lambda _: launch(found, tiles * splits, threads, shared, arguments), calls)
    peer = device_us(lambda _: torch.matmul(a, right), calls)
    what = f"{name} {kind} {m}x{n}x{k} {'[n,k]' if along_b else '[k,n]'} {splits}"
    report(what, us, peer, 2 * m * n * k, y, a.double() @ right.double())


def tensor_map(tensor, box):
    """Of a dense matrix; box: columns and rows."""
    space = ctypes.create_string_buffer(256)
    at = ctypes.addressof(space) + -ctypes.addressof(space) % 128
    rows, columns = tensor.shape
    check(cuda.cuTensorMapEncodeTiled(
        ctypes.c_void_p(at), 9 if tensor.dtype == torch.bfloat16 else 6, 2, ctypes.c_void_p(tensor.data_ptr()), (ctypes.c_uint64 * 2)(columns, rows),
        (ctypes.c_uint64 * 1)(columns * tensor.element_size()), (ctypes.c_uint32 * 2)(*box), (ctypes.c_uint32 * 2)(1, 1), 0, 3, 2, 0), "tensor map")
    return space, at


def warpgroup_defines(kind, along_b, columns, gelu):
    return [f"TENON_T={kind}", f"TENON_FN={'FN_GELU' if gelu else 0}", f"TENON_COLUMNS={columns}", f"TENON_ALONG_B={int(along_b)}"]


def warpgroups(kind, along_b, m, n, k, columns, gelu=False):
    stages = 4 if columns == 256 else 6
    shared = 1024 + stages * (128 + columns) * 128
    found = function("contraction/matmul_wgmma.cu", "matmul_wgmma", warpgroup_defines(kind, along_b, columns, gelu), shared)
    a = torch.randn(m, k, device="cuda").to(TYPES[kind])
    b = (torch.randn((n, k) if along_b else (k, n), device="cuda") / k ** 0.5).to(TYPES[kind])
    bias = torch.randn(n, device="cuda").to(TYPES[kind])
    right = b.t() if along_b else b
    y = torch.full((m, n), float("nan"), device="cuda", dtype=TYPES[kind])
    (keep, left_at), (keep2, right_at) = tensor_map(a, (64, 128)), tensor_map(b, (64, 128 if along_b else 64))
    blocks = min(-(-m // 128) * -(-n // columns), torch.cuda.get_device_properties(0).multi_processor_count)
    maps = [(ctypes.c_char * 128).from_address(at) for at in (left_at, right_at)]
    arguments = [*maps, bias, y, ctypes.c_longlong(m), ctypes.c_longlong(n), ctypes.c_int(max(-(-k // 64), columns // 32 + 1)), ctypes.c_float(0), ctypes.c_float(0)]
    calls = 4 if m * n * k > 1 << 38 else 10
    torch.cuda.synchronize()  # what follows runs on streams of its own
    linear = lambda: torch.nn.functional.linear(a, b, bias) if along_b else torch.addmm(bias, a, right)
    work = (lambda _: torch.nn.functional.gelu(linear())) if gelu else (lambda _: linear())
    us = device_us(lambda _: launch(found, blocks, 384, shared, arguments), calls)
    peer = device_us(work, calls)
    expected = a.double() @ right.double() + bias.double()
    what = f"128x{columns} {kind} {m}x{n}x{k} {'[n,k]' if along_b else '[k,n]'}{' gelu' if gelu else ''}"
    report(what, us, peer, 2 * m * n * k, y, torch.nn.functional.gelu(expected) if gelu else expected)


def all_tiles():
    for kind in ("bf16", "float"):
        for along_b in (True, False):
            for m, n, k in ((8192, 8192, 8192), (1024, 4096, 4096), (4096, 1536, 384), (4096, 384, 1536), (512, 1536, 384), (128, 1536, 384)):
                for name in TILES:
                    if m >= TILES[name][0] and not (kind == "float" and name.endswith("w")) and not (m > 4096 and TILES[name][0] < 128):
                        tiled(name, kind, along_b, m, n, k)
            for splits in (1, 4, 8):
                tiled("16x64", kind, along_b, 16, 384, 1536, splits)
                tiled("16x64", kind, along_b, 16, 4096, 4096, splits)


def all_warpgroups():
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda v: compiled("contraction/matmul_wgmma.cu", warpgroup_defines(*v)),
                      itertools.product(("f16", "bf16"), (False, True), (256, 128), (False, True))))
    for m, n, k, gelu in ((8192, 8192, 8192, False), (1024, 4096, 4096, False), (1024, 4096, 4096, True), (32768, 3072, 768, True), (4096, 3072, 768, True),
                          (4096, 768, 3072, False), (4096, 2304, 768, False), (4096, 768, 768, False), (1000, 712, 200, False), (128, 3072, 768, True)):
        for along_b in (False, True):
            for columns in (256, 128):
                warpgroups("bf16" if m != 4096 else "f16", along_b, m, n, k, columns, gelu)


if sys.argv[1:] != ["warpgroups"]:
    all_tiles()
if sys.argv[1:] != ["tiles"]:
    all_warpgroups()
