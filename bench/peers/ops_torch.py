"""PyTorch's times for the operations of `tenon bench ops`, inside a CUDA graph. One line an operation.   python3 ops_torch.py [TEXT…]"""
import statistics
import sys

import torch


def replay(work, repetitions, replays):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        work()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
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
    return replay(work, int(min(200, max(1, 2000 / max(once, 1)))), 11)


def draw(x, noise):
    """Temperature, top-k, top-p and a draw by an exponential race, as serving code does it."""
    values, places = torch.topk(x / 0.8, 50)
    p = torch.softmax(values, -1)
    p = torch.where(torch.cumsum(p, -1) - p < 0.9, p, 0.0)
    return places.gather(1, torch.argmax(p / noise, -1, keepdim=True))


def main():
    torch.manual_seed(7)
    rows = 65536
    x = torch.randn(rows, 1024, device="cuda")
    u = torch.randn(rows, 1024, device="cuda")
    y = torch.randn(rows, 1024, device="cuda")
    at = torch.randint(rows, (rows,), device="cuda")
    a, b = torch.randn(rows, 512, device="cuda"), torch.randn(rows, 512, device="cuda")
    v = torch.randn(64, 128256, device="cuda")
    noise = torch.empty(64, 50, device="cuda").exponential_()
    works = {
        "copy": lambda: y.copy_(x),
        "gelu": lambda: torch.nn.functional.gelu(x),
        "sum of rows": lambda: x.sum(1),
        "sum of columns": lambda: x.sum(0),
        "argmax of rows": lambda: x.argmax(1),
        "cumsum along rows": lambda: x.cumsum(1),
        "transpose": lambda: x.t().contiguous(),
        "gather of rows": lambda: x.index_select(0, at),
        "scatter-add of rows": lambda: x.index_add(0, at, u),
        "concat of halves": lambda: torch.cat([a, b], 1),
        "top-64 of rows": lambda: x.topk(64),
        "vocabulary top-50": lambda: v.topk(50),
        "vocabulary argmax": lambda: v.argmax(1),
        "vocabulary softmax": lambda: torch.softmax(v, 1),
        "vocabulary draw": lambda: draw(v, noise),
        "vocabulary sort": lambda: v.sort(1, descending=True),
        "vocabulary cumsum": lambda: v.cumsum(1),
    }
    for n, k in ((14336, 4096), (4096, 14336)):
        ws = [torch.randn(n, k, device="cuda", dtype=torch.float16) for _ in range(3)]
        q = torch.randn(1, k, device="cuda", dtype=torch.float16)
        turn = [0]

        def gemv(ws=ws, q=q, turn=turn):
            turn[0] += 1
            return torch.nn.functional.linear(q, ws[turn[0] % 3])

        works[f"gemv f16 {n}x{k}"] = gemv
    for batch in (1, 64):
        layer = torch.nn.LSTM(512, 512).cuda().eval()
        steps = torch.randn(128, batch, 512, device="cuda")
        works[f"lstm of batch {batch}"] = lambda layer=layer, steps=steps: layer(steps)
    for experts, count, n, k in ((8, 32, 14336, 4096), (64, 128, 1408, 2048), (8, 8192, 14336, 4096), (64, 32768, 1408, 2048), (128, 16384, 768, 2048)):
        w = torch.randn(experts, n, k, device="cuda", dtype=torch.bfloat16).transpose(1, 2)
        t = torch.randn(count, k, device="cuda", dtype=torch.bfloat16)
        ends = torch.bincount(torch.randint(experts, (count,), device="cuda"), minlength=experts).cumsum(0).to(torch.int32)
        works[f"grouped {experts} experts {count}x{n}x{k}"] = lambda w=w, t=t, ends=ends: torch._grouped_mm(t, w, offs=ends)
    many = torch.randn(512, 4096, device="cuda", dtype=torch.float16)
    whole = torch.randn(14336, 4096, device="cuda", dtype=torch.float16)
    works["512 rows of f16 14336x4096"] = lambda: torch.nn.functional.linear(many, whole)
    wanted = sys.argv[1:]
    with torch.inference_mode():
        for name, work in works.items():
            if not wanted or any(text in name for text in wanted):
                print(f"{name:28s} {device_us(work):9.1f} us", flush=True)
    print(torch.cuda.get_device_name(), torch.__version__)


main()
