"""Our matrix products beside torch.matmul, in one process: the kernel files' machine code, made by nvcc, launched through the driver, both
inside CUDA graphs. TILES: matmul_wmma in all its tiles, WARPGROUPS: matmul_wgmma, NORMS: matmul_norm beside a linear layer, an addition and a
layer_norm, GROUPS: grouped_matmul_wgmma and grouped_matmul_mma beside torch._grouped_mm, PARTS: matmul_parts; by default all.

python3 products_torch.py [tiles|warpgroups|norms|groups|parts]"""
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
STAGES = {256: 4, 192: 5, 128: 6}  # of the ring, by columns of tiles
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


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_int), ("value", ctypes.c_uint * 16)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared", ctypes.c_uint), ("stream", ctypes.c_void_p),
                ("attributes", ctypes.POINTER(LaunchAttribute)), ("count", ctypes.c_uint)]


COOPERATIVE, CLUSTER, PROGRAMMATIC = 2, 4, 6  # attributes


def launch_with(found, blocks, threads, shared, arguments, attributes):
    """attributes: by number."""
    values = [ctypes.c_void_p(a.data_ptr()) if isinstance(a, torch.Tensor) else ctypes.c_void_p(0) if a is None else a for a in arguments]
    pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(value) for value in values])
    all_of = (LaunchAttribute * len(attributes))(*[LaunchAttribute(number, 0, (ctypes.c_uint * 16)(value, 1, 1)) for number, value in attributes.items()])
    stream = torch.cuda.current_stream().cuda_stream
    config = LaunchConfig((ctypes.c_uint * 3)(blocks, 1, 1), (ctypes.c_uint * 3)(threads, 1, 1), shared, stream, all_of, len(attributes))
    check(cuda.cuLaunchKernelEx(ctypes.byref(config), found, pointers, None), "launch")


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


def tensor_map(tensor, box, rounded=True):
    """Of a dense tensor; box: columns, rows, planes. f32 is rounded to TF32 where asked for."""
    space = ctypes.create_string_buffer(256)
    at = ctypes.addressof(space) + -ctypes.addressof(space) % 128
    sizes = tensor.shape[::-1]
    strides = [tensor.stride(dim) * tensor.element_size() for dim in range(tensor.dim() - 2, -1, -1)]
    dims = len(sizes)
    check(cuda.cuTensorMapEncodeTiled(
        ctypes.c_void_p(at), {torch.float16: 6, torch.bfloat16: 9, torch.float32: 11 if rounded else 7}[tensor.dtype], dims, ctypes.c_void_p(tensor.data_ptr()),
        (ctypes.c_uint64 * dims)(*sizes), (ctypes.c_uint64 * len(strides))(*strides), (ctypes.c_uint32 * dims)(*box), (ctypes.c_uint32 * dims)(*[1] * dims),
        0, 3, 2, 0), "tensor map")
    return space, at


def warpgroup_defines(kind, along_b, columns, gelu):
    return [f"TENON_T={kind}", f"TENON_FN={'FN_GELU' if gelu else 0}", f"TENON_COLUMNS={columns}", f"TENON_ALONG_B={int(along_b)}"]


def warpgroups(kind, along_b, m, n, k, columns, gelu=False):
    shared = 1024 + STAGES[columns] * (128 + columns) * 128
    found = function("contraction/matmul_wgmma.cu", "matmul_wgmma", warpgroup_defines(kind, along_b, columns, gelu), shared)
    a = torch.randn(m, k, device="cuda").to(TYPES[kind])
    b = (torch.randn((n, k) if along_b else (k, n), device="cuda") / k ** 0.5).to(TYPES[kind])
    bias = torch.randn(n, device="cuda").to(TYPES[kind])
    right = b.t() if along_b else b
    y = torch.full((m, n), float("nan"), device="cuda", dtype=TYPES[kind])
    depth = 128 // a.element_size()
    (keep, left_at), (keep2, right_at) = tensor_map(a, (depth, 128)), tensor_map(b, (depth, 128 if along_b and columns % 128 == 0 else 64))
    blocks = min(-(-m // 128) * -(-n // columns), torch.cuda.get_device_properties(0).multi_processor_count)
    maps = [(ctypes.c_char * 128).from_address(at) for at in (left_at, right_at)]
    arguments = [*maps, bias, y, ctypes.c_longlong(m), ctypes.c_longlong(n), ctypes.c_int(max(-(-k // depth), columns // 32 + 1)), ctypes.c_float(0), ctypes.c_float(0)]
    calls = 4 if m * n * k > 1 << 38 else 10
    torch.cuda.synchronize()  # what follows runs on streams of its own
    linear = lambda: torch.nn.functional.linear(a, b, bias) if along_b else torch.addmm(bias, a, right)
    work = (lambda _: torch.nn.functional.gelu(linear())) if gelu else (lambda _: linear())
    us = device_us(lambda _: launch(found, blocks, 384, shared, arguments), calls)
    peer = device_us(work, calls)
    expected = a.double() @ right.double() + bias.double()
    what = f"128x{columns} {kind} {m}x{n}x{k} {'[n,k]' if along_b else '[k,n]'}{' gelu' if gelu else ''}"
    report(what, us, peer, 2 * m * n * k, y, torch.nn.functional.gelu(expected) if gelu else expected)


def norm_defines(kind, columns, centred=True):
    return [f"TENON_T={kind}", f"TENON_CENTRED={int(centred)}", f"TENON_COLUMNS={columns}"]


def norms(kind, m, n, k, columns):
    shared = 1024 + STAGES[columns] * (128 + columns) * 128
    found = function("contraction/matmul_norm.cu", "matmul_norm", norm_defines(kind, columns), shared)
    a = torch.randn(m, k, device="cuda").to(TYPES[kind])
    b = (torch.randn(n, k, device="cuda") / k ** 0.5).to(TYPES[kind])
    bias, gamma, beta = (torch.randn(n, device="cuda").to(TYPES[kind]) for _ in range(3))
    residual = torch.randn(m, n, device="cuda").to(TYPES[kind])
    y = torch.full((m, n), float("nan"), device="cuda", dtype=TYPES[kind])
    depth = 128 // a.element_size()
    boxes = [tensor_map(a, (depth, 128)), tensor_map(b, (depth, 64)), tensor_map(residual, (depth, 128), False)]
    maps = [(ctypes.c_char * 128).from_address(at) for _, at in boxes]
    blocks = n // columns
    teams = min(-(-m // 128), torch.cuda.get_device_properties(0).multi_processor_count // blocks)
    states = torch.empty(teams * 2 * blocks * 128 * 2, device="cuda")
    counters = torch.zeros(4 * teams, device="cuda", dtype=torch.int32)
    least = 1 + -(-columns // (2 * depth)) + columns // (32 if kind == "float" else 64)
    steps = max(-(-k // depth), least)
    arguments = [*maps, bias, gamma, beta, y, ctypes.c_longlong(m), ctypes.c_longlong(n), ctypes.c_int(steps), ctypes.c_int(blocks), ctypes.c_int(1),
                 ctypes.c_float(1 / blocks), ctypes.c_float(1e-12), states, counters]
    calls = 4 if m * n * k > 1 << 36 else 10
    torch.cuda.synchronize()  # what follows runs on streams of its own
    work = lambda _: launch_with(found, teams * blocks, 384, shared, arguments, {COOPERATIVE: 1, PROGRAMMATIC: 1})
    us = device_us(work, calls)
    first = y.clone()
    y.fill_(float("nan"))
    torch.cuda.synchronize()
    device_us(work, calls)
    same = torch.equal(first.view(torch.int16), y.view(torch.int16)) and not counters.any()
    peer = device_us(lambda _: torch.nn.functional.layer_norm(torch.nn.functional.linear(a, b, bias) + residual, (n,), gamma, beta, 1e-12), calls)
    sums = a.double() @ b.double().t() + bias.double() + residual.double()
    expected = torch.nn.functional.layer_norm(sums, (n,), gamma.double(), beta.double(), 1e-12)
    what = f"norm 128x{columns} {teams} of {blocks} {kind} {m}x{n}x{k}"
    report(what + ("" if same else " OTHER BITS"), us, peer, 2 * m * n * k, y, expected)


def drawn(experts, top, tokens, skew):
    """How many rows each expert has, of tokens that choose at random; skew: how much some are preferred."""
    logits = torch.randn(tokens, experts, device="cuda") + skew * torch.randn(experts, device="cuda")
    return torch.bincount(logits.topk(top, 1).indices.flatten(), minlength=experts)


def grouped_defines(columns):
    return ["TENON_T=bf16", f"TENON_COLUMNS={columns}"]


def groups(counts, n, k, name, what):
    rows, experts = int(counts.sum()), len(counts)
    x = torch.randn(rows, k, device="cuda").bfloat16()
    w = torch.randn(experts, k, n, device="cuda").bfloat16().mul_(k ** -0.5)
    counts, ends = counts.to(torch.int32), counts.cumsum(0).to(torch.int32)
    y = torch.full((rows, n), float("nan"), device="cuda", dtype=torch.bfloat16)
    faults = torch.zeros(8, device="cuda", dtype=torch.int64)
    long, integer = ctypes.c_longlong, ctypes.c_int
    sms = torch.cuda.get_device_properties(0).multi_processor_count
    if name in STAGES:
        shared = 1024 + STAGES[name] * (128 + name) * 128
        found = function("contraction/grouped_matmul_wgmma.cu", "grouped_matmul_wgmma", grouped_defines(name), shared)
        (keep, left_at), (keep2, right_at) = tensor_map(x, (64, 64)), tensor_map(w, (64, 64, 1))
        maps = [(ctypes.c_char * 128).from_address(at) for at in (left_at, right_at)]
        arguments = [*maps, counts, y, long(rows), long(experts), long(n), integer(max(-(-k // 64), name // 32 + 1)), integer(0), faults, integer(0)]
        work = lambda _: launch(found, sms, 384, shared, arguments)
    else:
        tile_rows, columns, warp_rows, warp_columns, stages, lag = TILES[name]
        shared = max(stages * (tile_rows + columns) * 128, tile_rows * (columns + 8) * 4) + 1024
        found = function("contraction/grouped_matmul_mma.cu", "grouped_matmul_mma", [
            "TENON_T=bf16", f"TENON_TILE_M={tile_rows}", f"TENON_TILE_N={columns}", f"TENON_WARP_M={warp_rows}", f"TENON_WARP_N={warp_columns}",
            f"TENON_STAGES={stages}", f"TENON_LAG={lag}", "TENON_PACKED=1", "TENON_FROM=800"], shared)
        arguments = [x, w, counts, y, long(rows), long(experts), long(n), long(k), integer(0), integer(3), faults, integer(0)]
        work = lambda _: launch(found, sms * (233472 // (shared + 1024)), tile_rows // warp_rows * (columns // warp_columns) * 32, shared, arguments)
    torch.cuda.synchronize()  # what follows runs on streams of its own
    us = device_us(work, 4)
    turned = w.transpose(1, 2).contiguous().transpose(1, 2)
    peer = min(device_us(lambda _, b=b: torch._grouped_mm(x, b, offs=ends), 4) for b in (w, turned))
    expected = torch.cat([part.double() @ w[g].double() for g, part in enumerate(x.split(counts.tolist()))])
    report(f"{what} {experts} of {rows}x{n}x{k} {name}", us, peer, 2 * rows * n * k, y, expected)


def all_groups():
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda columns: compiled("contraction/grouped_matmul_wgmma.cu", grouped_defines(columns)), STAGES))
    for experts, top, tokens, n, k in ((8, 2, 4096, 14336, 4096), (64, 8, 4096, 1408, 2048), (128, 8, 2048, 768, 2048), (8, 2, 256, 14336, 4096),
                                       (64, 8, 256, 1408, 2048), (8, 2, 16, 14336, 4096), (64, 8, 16, 1408, 2048)):
        for skew in (0, 1):
            counts = drawn(experts, top, tokens, skew)
            for name in (*STAGES, "64x128w", "64x64w"):
                groups(counts, n, k, name, "drawn" if skew == 0 else "skewed")


def parts_defines(kind, along_b, rows, columns, gelu):
    return [f"TENON_T={kind}", f"TENON_FN={'FN_GELU' if gelu else 0}", f"TENON_ROWS={rows}", f"TENON_COLUMNS={columns}", f"TENON_ALONG_B={int(along_b)}"]


def parts(kind, along_b, m, n, k, rows, columns, count, gelu):
    stages = 8 if rows + columns == 128 else 6
    shared = 1024 + stages * (rows + columns) * 128 + rows * (columns + 8) * 4
    found = function("contraction/matmul_parts.cu", "matmul_parts", parts_defines(kind, along_b, rows, columns, gelu), shared)
    a = torch.randn(m, k, device="cuda").to(TYPES[kind])
    b = (torch.randn((n, k) if along_b else (k, n), device="cuda") / k ** 0.5).to(TYPES[kind])
    bias = torch.randn(n, device="cuda").to(TYPES[kind])
    right = b.t() if along_b else b
    y = torch.full((m, n), float("nan"), device="cuda", dtype=TYPES[kind])
    (keep, left_at), (keep2, right_at) = tensor_map(a, (64, rows)), tensor_map(b, (64, 64))
    maps = [(ctypes.c_char * 128).from_address(at) for at in (left_at, right_at)]
    arguments = [*maps, bias, y, ctypes.c_longlong(m), ctypes.c_longlong(n), ctypes.c_int(-(-k // 64)), ctypes.c_float(0), ctypes.c_float(0)]
    tiles = -(-m // rows) * -(-n // columns)
    torch.cuda.synchronize()  # what follows runs on streams of its own
    linear = lambda: torch.nn.functional.linear(a, b, bias) if along_b else torch.addmm(bias, a, right)
    us = device_us(lambda _: launch_with(found, tiles * count, 2 * rows + 32, shared, arguments, {CLUSTER: count, PROGRAMMATIC: 1}), 10)
    peer = device_us((lambda _: torch.nn.functional.gelu(linear())) if gelu else (lambda _: linear()), 10)
    expected = a.double() @ right.double() + bias.double()
    what = f"parts {rows}x{columns} by {count} {kind} {m}x{n}x{k} {'[n,k]' if along_b else '[k,n]'}{' gelu' if gelu else ''}"
    report(what, us, peer, 2 * m * n * k, y, torch.nn.functional.gelu(expected) if gelu else expected)


def all_parts():
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda v: compiled("contraction/matmul_parts.cu", parts_defines(*v)),
                      itertools.product(("f16", "bf16"), (False, True), (64, 128), (64,), (False, True))))
    for m, n, k, gelu in ((128, 3072, 768, True), (128, 768, 3072, False), (128, 768, 768, False), (64, 4096, 4096, False), (65, 200, 456, True), (512, 768, 3072, False)):
        for along_b in (False, True):
            for rows in (64, 128):
                for count in (1, 2, 4, 8):
                    if count <= -(-k // 64) and -(-m // rows) * -(-n // 64) * count <= 264:
                        parts("f16" if along_b else "bf16", along_b, m, n, k, rows, 64, count, gelu)


def all_norms():
    widths = {"f16": (128, 192, 256), "bf16": (128, 192, 256), "float": (128, 192)}
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda v: compiled("contraction/matmul_norm.cu", norm_defines(*v)), [(kind, columns) for kind in widths for columns in widths[kind]]))
    for m, n, k in ((32768, 384, 384), (32768, 384, 1536), (4096, 384, 1536), (32768, 768, 768), (32768, 768, 3072), (4096, 768, 768), (4096, 768, 3072),
                    (1000, 1024, 200), (129, 576, 72), (5, 256, 8), (77, 2048, 328)):
        for kind in ("f16", "bf16", "float"):
            for columns in widths[kind]:
                if n % columns == 0 and n // columns <= 8:
                    norms(kind, m, n, k, columns)


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
                      [v for v in itertools.product(TYPES, (False, True), STAGES, (False, True)) if v[0] != "float" or (v[1] and v[2] < 256)]))
    for m, n, k, gelu in ((8192, 8192, 8192, False), (1024, 4096, 4096, False), (1024, 4096, 4096, True), (32768, 3072, 768, True), (4096, 3072, 768, True),
                          (4096, 768, 3072, False), (4096, 2304, 768, False), (4096, 768, 768, False), (1000, 712, 200, False), (128, 3072, 768, True)):
        for along_b in (False, True):
            for columns in STAGES:
                warpgroups("bf16" if m != 4096 else "f16", along_b, m, n, k, columns, gelu)
                if along_b and columns < 256:
                    warpgroups("float", along_b, m, n, k, columns, gelu)


PARTS = {"tiles": all_tiles, "warpgroups": all_warpgroups, "norms": all_norms, "groups": all_groups, "parts": all_parts}
for part in sys.argv[1:] or PARTS:
    PARTS[part]()
