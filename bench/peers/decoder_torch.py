"""Layers of a decoder of Llama-1B's shape without attention, for few tokens, timed like `tenon bench model --device cuda`: norm, product of
q, k and v, product with residual, norm, gate, up, gated unit, product with residual. Weights are random. One JSON object a line.
    python3 decoder_torch.py [--compile MODE] f16|bf16 TOKENS…
    python3 decoder_torch.py export FOLDER      the same as FOLDER/decoder.onnx, f32, its dim "tokens"
Four layers: each has 120 MB of halves, more than a cache keeps."""
import json
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional

LAYERS, HIDDEN, QKV, INNER, EPSILON = 4, 2048, 3072, 8192, 1e-5
DTYPES = {"f16": torch.float16, "bf16": torch.bfloat16}


class Norm(nn.Module):
    def __init__(self, spelled):
        super().__init__()
        self.weight = nn.Parameter(torch.rand(HIDDEN) + 0.5)
        self.spelled = spelled  # the exporter knows no rms_norm

    def forward(self, x):
        if not self.spelled:
            return functional.rms_norm(x, (HIDDEN,), self.weight, EPSILON)
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON) * self.weight


class Layer(nn.Module):
    def __init__(self, spelled):
        super().__init__()
        self.before, self.behind = Norm(spelled), Norm(spelled)
        self.qkv, self.out = nn.Linear(HIDDEN, QKV, bias=False), nn.Linear(QKV, HIDDEN, bias=False)
        self.gate, self.up = nn.Linear(HIDDEN, INNER, bias=False), nn.Linear(HIDDEN, INNER, bias=False)
        self.down = nn.Linear(INNER, HIDDEN, bias=False)

    def forward(self, x):
        x = x + self.out(self.qkv(self.before(x)))
        rows = self.behind(x)
        return x + self.down(functional.silu(self.gate(rows)) * self.up(rows))


def layers(spelled):
    torch.manual_seed(1)
    return nn.Sequential(*(Layer(spelled) for _ in range(LAYERS))).eval()


def median_us(work, seconds=1.0):
    for _ in range(10):
        work()
    torch.cuda.synchronize()
    times = []
    end = time.perf_counter() + seconds
    while len(times) < 50 or time.perf_counter() < end:
        before = time.perf_counter_ns()
        work()
        torch.cuda.synchronize()
        times.append((time.perf_counter_ns() - before) / 1000)
    return statistics.median(times)


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["export"]:
        torch.onnx.export(
            layers(True), (torch.randn(1, 2, HIDDEN),), arguments[1] + "/decoder.onnx", input_names=["x"], output_names=["y"],
            dynamic_axes={"x": {1: "tokens"}, "y": {1: "tokens"}}, opset_version=17, dynamo=False)
        return
    mode = None
    if "--compile" in arguments:
        mode = arguments.pop(arguments.index("--compile") + 1)
    dtype, *tokens = [a for a in arguments if not a.startswith("--")]
    model = layers(False).to("cuda", DTYPES[dtype])
    for count in tokens:
        x = torch.randn(1, int(count), HIDDEN, device="cuda", dtype=DTYPES[dtype])
        with torch.inference_mode():
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                for _ in range(3):
                    model(x)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                model(x)
            variants = {"cuda graph": graph.replay}
            if mode:
                torch._dynamo.reset()
                compiled = torch.compile(model, mode=mode, dynamic=False)
                variants["torch.compile " + mode] = lambda: compiled(x)
            for name, work in variants.items():
                print(json.dumps({
                    "bench": "decoder", "peer": "pytorch " + torch.__version__, "card": torch.cuda.get_device_name(), "variant": name,
                    "params": {"tokens": int(count), "weights": dtype, "layers": LAYERS}, "median_us": round(median_us(work), 1)}), flush=True)


main()
