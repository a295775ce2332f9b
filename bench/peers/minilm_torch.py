"""PyTorch's all-MiniLM-L6-v2 shape (Hugging Face BertModel with SDPA, random weights), timed like `tenon bench model --device cuda`: host time
of a replayed CUDA graph and a wait, inputs and outputs on the device. One JSON object a line.
    python3 minilm_torch.py [--eager] [--compile MODE] [--bert-base|--modernbert-base] [f32|f16|bf16] BATCHxTOKENS…      (f32 runs in TF32)
    python3 minilm_torch.py export FOLDER [NAME…]      the same models for Tenon: FOLDER/minilm/model.onnx, bert and modernbert
MODE is one of torch.compile, for example reduce-overhead or max-autotune. --bert-base and --modernbert-base are those shapes instead."""
import json
import os
import statistics
import sys
import time

import torch
from transformers import BertConfig, BertModel, ModernBertConfig, ModernBertModel

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


def bert(hidden, layers):
    return BertModel(BertConfig(
        vocab_size=30522, hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=12, intermediate_size=4 * hidden, hidden_act="gelu",
        max_position_embeddings=512, attn_implementation="sdpa"), add_pooling_layer=False)


MODELS = {
    "minilm": ("MiniLM-L6", lambda: bert(384, 6)),
    "bert": ("BERT-base", lambda: bert(768, 12)),
    "modernbert": ("ModernBERT-base", lambda: ModernBertModel(ModernBertConfig(attn_implementation="sdpa"))),
}


class Hidden(torch.nn.Module):
    """The last hidden states of inputs by place; ModernBERT has no token types."""

    def __init__(self, model):
        super().__init__()
        self.model = model
        self.names = ["input_ids", "attention_mask"] + (["token_type_ids"] if isinstance(model, BertModel) else [])

    def forward(self, *inputs):
        return self.model(**dict(zip(self.names, inputs))).last_hidden_state

    def of(self, ids):
        return (ids, torch.ones_like(ids), torch.zeros_like(ids))[:len(self.names)]


def export(folder, names):
    sizes = {0: "batch", 1: "tokens"}
    for name in names or MODELS:
        torch.manual_seed(1)
        model = Hidden(MODELS[name][1]().eval())
        os.makedirs(f"{folder}/{name}", exist_ok=True)
        torch.onnx.export(
            model, model.of(torch.randint(0, 30000, (2, 9))), f"{folder}/{name}/model.onnx", input_names=model.names,
            output_names=["last_hidden_state"], dynamic_axes={n: sizes for n in [*model.names, "last_hidden_state"]}, opset_version=17, dynamo=False)


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["export"]:
        export(arguments[1], arguments[2:])
        return
    eager, mode = "--eager" in arguments, None
    label, make = MODELS[next((name for name in MODELS if f"--{name}-base" in arguments), "minilm")]
    if "--compile" in arguments:
        mode = arguments.pop(arguments.index("--compile") + 1)
    arguments = [a for a in arguments if not a.startswith("--")]
    dtype = arguments[0] if arguments else "f32"
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.manual_seed(1)
    model = Hidden(make().eval().to("cuda", DTYPES[dtype]))
    for shape in arguments[1:] or SHAPES:
        batch, tokens = map(int, shape.split("x"))
        inputs = model.of(torch.randint(0, 30522, (batch, tokens), device="cuda"))

        def run():
            return model(*inputs)

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
                compiled = torch.compile(model, mode=mode, dynamic=False)
                variants["torch.compile " + mode] = lambda: compiled(*inputs)
            for name, work in variants.items():
                median, p95, low, high = median_us(work)
                print(json.dumps({
                    "bench": "model", "peer": "pytorch " + torch.__version__, "card": torch.cuda.get_device_name(),
                    "params": {"model": label, "shape": shape, "weights": dtype}, "variant": name,
                    "median_us": round(median, 1), "p95_us": round(p95, 1), "min_us": round(low, 1), "max_us": round(high, 1)}), flush=True)


main()
