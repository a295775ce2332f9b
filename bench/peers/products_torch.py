"""Our matrix products beside torch.matmul, in one process: the kernel files' machine code, made by nvcc, launched through the driver, both
inside CUDA graphs.   python3 products_torch.py [KERNELS_FOLDER]"""
import ctypes
import pathlib
import statistics
import subprocess
import sys
import tempfile

import torch

HERE = pathlib.Path(__file__).resolve().parent.parent.parent
KERNELS = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "tenon-cuda/src/main/resources/dev/tenon/cuda/kernels")
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


def function(path, entry, defines, shared):
    key = (entry, tuple(defines), shared)
    if key not in functions:
        cubin = f"{folder}/{len(functions)}.cubin"
        subprocess.run(["nvcc", "-gencode=arch=compute_90a,code=sm_90a", "-cubin", "-o", cubin, f"-I{KERNELS}/include",
                        "-DTENON_SUFFIX=", *(f"-D{one}" for one in defines), str(KERNELS / path)], check=True)
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


for kind in ("bf16", "float"):
    for along_b in (True, False):
        for m, n, k in ((8192, 8192, 8192), (1024, 4096, 4096), (4096, 1536, 384), (4096, 384, 1536), (512, 1536, 384), (128, 1536, 384)):
            for name in TILES:
                if m >= TILES[name][0] and not (kind == "float" and name.endswith("w")) and not (m > 4096 and TILES[name][0] < 128):
                    tiled(name, kind, along_b, m, n, k)
        for splits in (1, 4, 8):
            tiled("16x64", kind, along_b, 16, 384, 1536, splits)
            tiled("16x64", kind, along_b, 16, 4096, 4096, splits)
