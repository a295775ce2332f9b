"""PyTorch's times for the attentions of `tenon bench ops attention`, by backend, inside a CUDA graph.   python3 attention_torch.py"""
import statistics

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
PREFILL = [(1, 32, 1024, 128, 1), (4, 32, 4096, 128, 1), (4, 32, 4096, 128, 0), (8, 16, 2048, 64, 0), (32, 12, 128, 32, 0), (1, 32, 16384, 128, 1)]
DECODE = [(1, 32, 8, 1, 1024, 128), (1, 32, 8, 1, 8192, 128), (1, 32, 8, 1, 65536, 128), (32, 32, 8, 1, 4096, 128), (1, 32, 32, 1, 8192, 128), (4, 32, 8, 4, 8192, 128)]


def device_us(works):
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        for work in works:
            work()
        start.record()
        works[0]()
        end.record()
        end.synchronize()
    once = start.elapsed_time(end) * 1000
    repetitions = max(len(works), int(min(200, max(3, 20000 / max(once, 1)))))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(repetitions):
            works[i % len(works)]()
    graph.replay()
    times = []
    for _ in range(11):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1000 / repetitions)
    return statistics.median(times)


def attention(backend, q, k, v, causal):
    def work():
        with sdpa_kernel(backend):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1])

    return work


def times(name, sets, causal, flops=0, bytes_read=0):
    for word, backend in BACKENDS.items():
        micros = device_us([attention(backend, q, k, v, causal) for q, k, v in sets])
        rate = f"{flops / micros / 1e6:.0f} TFLOP/s" if flops else f"{bytes_read / micros / 1e3:.0f} GB/s"
        print(f"{name}: {word} {micros:.2f} us, {rate}", flush=True)


def main():
    torch.manual_seed(7)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}")
    make = lambda *sizes: torch.randn(*sizes, device="cuda", dtype=torch.bfloat16)
    for b, h, n, d, causal in PREFILL:
        flops = 4 * b * h * n * n * d / (2 if causal else 1)
        times(f"attention {b} {h} {n} {d}{' causal' if causal else ''}", [[make(b, h, n, d) for _ in range(3)]], bool(causal), flops=flops)
    for b, h, groups, queries, keys, d in DECODE:
        size = 2 * b * groups * keys * d * 2
        sets = [(make(b, h, queries, d), make(b, groups, keys, d), make(b, groups, keys, d)) for _ in range(max(1, min(32, (160 << 20) // size)))]
        times(f"attention decode {b} {h}/{groups} {queries} {keys} {d}", sets, False, bytes_read=size)


main()
