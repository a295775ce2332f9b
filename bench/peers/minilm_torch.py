"""PyTorch's all-MiniLM-L6-v2 shape (Hugging Face BertModel with SDPA, random weights), timed like `tenon bench model --device cuda`: host time
of a replayed CUDA graph and a wait, inputs and outputs on the device. One JSON object a line.
    python3 minilm_torch.py [--eager] [--compile MODE] [--bert-base] [f32|f16|bf16] BATCHxTOKENS…      (f32 runs in TF32)
    python3 minilm_torch.py export FOLDER      the same two models for Tenon: FOLDER/minilm/model.onnx and FOLDER/bert/model.onnx
MODE is one of torch.compile, for example reduce-overhead or max-autotune. --bert-base is BERT-base's shape instead."""
import json
import os
import statistics
import sys
import time

import torch
from transformers import BertConfig, BertModel

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
SHAPES = "1x16 1x128 32x128 256x128".split()


def median_us(work, least=50, seconds=1.0):
    for _ in range(10):
        work()
    torch.cuda.synchronize()
    times = []
    end = time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        before = time.perf_counter_ns()
        work()
        torch.cuda.synchronize()
        times.append((time.perf_counter_ns() - before) / 1000)
    times.sort()
    return statistics.median(times), times[int(len(times) * 0.95)], times[0], times[-1]


def shape_of(base):
    return BertConfig(
        vocab_size=30522, hidden_size=768 if base else 384, num_hidden_layers=12 if base else 6, num_attention_heads=12,
        intermediate_size=3072 if base else 1536, hidden_act="gelu", max_position_embeddings=512, attn_implementation="sdpa")


class Hidden(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, token_type_ids):
        return self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).last_hidden_state


def export(folder):
    names = ["input_ids", "attention_mask", "token_type_ids"]
    sizes = {0: "batch", 1: "tokens"}
    for name, base in (("minilm", False), ("bert", True)):
        torch.manual_seed(1)
        model = Hidden(BertModel(shape_of(base), add_pooling_layer=False).eval())
        ids = torch.randint(0, 30000, (2, 9))
        os.makedirs(f"{folder}/{name}", exist_ok=True)
        torch.onnx.export(
            model, (ids, torch.ones_like(ids), torch.zeros_like(ids)), f"{folder}/{name}/model.onnx", input_names=names,
            output_names=["last_hidden_state"], dynamic_axes={n: sizes for n in [*names, "last_hidden_state"]}, opset_version=17, dynamo=False)


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["export"]:
        export(arguments[1])
        return
    eager, base, mode = "--eager" in arguments, "--bert-base" in arguments, None
    if "--compile" in arguments:
        mode = arguments.pop(arguments.index("--compile") + 1)
    arguments = [a for a in arguments if not a.startswith("--")]
    dtype = arguments[0] if arguments else "f32"
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.manual_seed(1)
    model = BertModel(shape_of(base), add_pooling_layer=False).eval().to("cuda", DTYPES[dtype])
    for shape in arguments[1:] or SHAPES:
        batch, tokens = map(int, shape.split("x"))
        ids = torch.randint(0, 30522, (batch, tokens), device="cuda")
        mask = torch.ones_like(ids)
        types = torch.zeros_like(ids)

        def run():
            return model(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state

        with torch.inference_mode():
            variants = {}
            if eager:
                variants["eager"] = run
            side = torch.cuda.Stream()
            with torch.cuda.stream(side):
                for _ in range(3):
                    run()
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                run()
            variants["cuda graph"] = graph.replay
            if mode:
                torch._dynamo.reset()
                compiled = torch.compile(
                    lambda ids, mask, types: model(input_ids=ids, attention_mask=mask, token_type_ids=types).last_hidden_state,
                    mode=mode, dynamic=False)
                variants["torch.compile " + mode] = lambda: compiled(ids, mask, types)
            for name, work in variants.items():
                median, p95, low, high = median_us(work)
                print(json.dumps({
                    "bench": "model", "peer": "pytorch " + torch.__version__, "card": torch.cuda.get_device_name(),
                    "params": {"model": "BERT-base" if base else "MiniLM-L6", "shape": shape, "weights": dtype}, "variant": name,
                    "median_us": round(median, 1), "p95_us": round(p95, 1), "min_us": round(low, 1), "max_us": round(high, 1)}), flush=True)


main()
