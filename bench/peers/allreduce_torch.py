"""PyTorch's all-reduce over NCCL (f32, sum, in place), timed like `tenon bench allreduce --device cuda`: host time of a call and a wait, and
device time inside a CUDA graph of 20. A process a GPU. One JSON object a line.   python3 allreduce_torch.py [--world N] [BYTES…]"""
import json
import os
import socket
import statistics
import sys
import time

os.environ.setdefault("NCCL_NVLS_ENABLE", "0")  # as Tenon sets it

import torch
import torch.distributed as dist

SIZES = [1 << 10, 8 << 10, 64 << 10, 256 << 10, 1 << 20, 16 << 20, 256 << 20, 1 << 30]
CAPTURED = 20
LARGE = 16 << 20


def calls_us(x, runs):
    times = []
    for _ in range(3 * runs):
        before = time.perf_counter_ns()
        dist.all_reduce(x)
        torch.cuda.synchronize()
        times.append((time.perf_counter_ns() - before) / 1000)
    return sorted(times[2 * runs:])


def graph_us(x, replays):
    stream = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        dist.all_reduce(x)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(CAPTURED):
            dist.all_reduce(x)
    graph.replay()
    torch.cuda.synchronize()
    times = []
    for _ in range(replays):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        graph.replay()
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1000 / CAPTURED)
    return statistics.median(times)


def check(x, rank, world):
    i = torch.arange(x.numel(), device=x.device, dtype=torch.float32) % 1009
    x.copy_(i + 7 * (rank + 1))
    dist.all_reduce(x)
    assert torch.equal(x, world * i + 7 * world * (world + 1) / 2), "the all-reduce is wrong"


def run(rank, world, port, sizes):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=world, device_id=torch.device("cuda", rank))
    for size in sizes:
        x = torch.empty(size // 4, device="cuda")
        check(x[: 1 << 18], rank, world)
        x.zero_()
        calls = calls_us(x, 10 if size > LARGE else 200)
        device = graph_us(x, 5 if size > LARGE else 50)
        if rank == 0:
            print(json.dumps({
                "bench": "allreduce", "device": "cuda", "card": torch.cuda.get_device_name(),
                "params": {"world": world, "bytes": size, "length": size // 4, "dtype": "f32"},
                "variant": "pytorch " + torch.__version__ + " nccl " + ".".join(map(str, torch.cuda.nccl.version())),
                "median_us": round(statistics.median(calls), 2), "p95_us": round(calls[int(0.95 * (len(calls) - 1))], 2),
                "min_us": round(calls[0], 2), "max_us": round(calls[-1], 2), "device_us": round(device, 3),
                "gb_s": round(size / device / 1e3, 2), "bus_gb_s": round(size / device / 1e3 * 2 * (world - 1) / world, 2),
                "runs": len(calls),
            }), flush=True)
        del x
    dist.barrier()
    dist.destroy_process_group()


def main():
    arguments = sys.argv[1:]
    world = torch.cuda.device_count()
    if arguments and arguments[0] == "--world":
        world = int(arguments[1])
        arguments = arguments[2:]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(run, (world, port, [int(a) for a in arguments] or SIZES), nprocs=world)


if __name__ == "__main__":
    main()
