"""PyTorch's softmax, LayerNorm and RmsNorm over rows, timed like `tenon bench softmax`: host time of a call and a wait, device time
inside a CUDA graph. One JSON object a line.   python3 rows_torch.py [softmax|layer_norm|rms_norm] [f32|f16|bf16] ROWSxCOLS…"""
import json
import statistics
import sys
import time

import torch

OPS = {
    "softmax": lambda x, g, b: torch.softmax(x, -1),
    "layer_norm": lambda x, g, b: torch.nn.functional.layer_norm(x, x.shape[-1:], g, b),
    "rms_norm": lambda x, g, b: torch.nn.functional.rms_norm(x, x.shape[-1:], g, 1e-5),
}
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
SOFTMAX = "128x128 1024x1024 4096x1024 65536x1024 262144x1024 1024x32768 64x1000003 1x16777216 4096x50257".split()


def replay(work, repetitions, replays):
    graph = torch.cuda.CUDAGraph()
    work()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(repetitions):
            work()
    times = []
    for _ in range(replays):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        graph.replay()
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1000 / repetitions)
    return statistics.median(times)


def device_us(work):
    once = replay(work, 1, 3)
    return replay(work, int(min(400, max(1, 2000 / max(once, 1)))), 21)


def host_us(work):
    def sample(runs):
        times = []
        for _ in range(runs):
            before = time.perf_counter_ns()
            work()
            torch.cuda.synchronize()
            times.append((time.perf_counter_ns() - before) / 1000)
        return statistics.median(times)

    first = sample(20)
    return sample(int(min(2000, max(20, 2e5 / first))))


def main():
    op = sys.argv[1] if len(sys.argv) > 1 else "softmax"
    dtype = sys.argv[2] if len(sys.argv) > 2 else "f32"
    for shape in sys.argv[3:] or SOFTMAX:
        rows, cols = map(int, shape.split("x"))
        x = torch.randn(rows, cols, device="cuda", dtype=DTYPES[dtype])
        g, b = (torch.randn(cols, device="cuda", dtype=DTYPES[dtype]) for _ in range(2))
        y = torch.empty_like(x)
        work = lambda: OPS[op](x, g, b)
        copy = device_us(lambda: y.copy_(x))
        device = device_us(work)
        print(json.dumps({
            "bench": op, "variant": "pytorch " + torch.__version__, "card": torch.cuda.get_device_name(),
            "params": {"rows": rows, "cols": cols, "dtype": dtype}, "median_us": round(host_us(work), 2), "device_us": round(device, 2),
            "gb_s": round(2 * x.numel() * x.element_size() / device / 1e3, 1), "copy_us": round(copy, 2),
        }), flush=True)


main()
