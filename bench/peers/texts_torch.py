"""PyTorch's all-MiniLM-L6-v2 shape (Hugging Face BertModel, random weights) over many texts, as `tenon bench texts` does it:
tokenizing included, texts sorted by length and padded a batch at a time, mean pooling and scaling on the device, no warm-up.
One JSON object a run.
    python3 texts_torch.py TEXTS.txt TOKENIZER.json [f32|f16] [BATCH] [PASSES]      (f32 runs in TF32)"""
import json
import sys
import time

import torch
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast


def main():
    path, vocabulary = sys.argv[1:3]
    dtype = {"f32": torch.float32, "f16": torch.float16}[sys.argv[3] if len(sys.argv) > 3 else "f32"]
    batch = int(sys.argv[4]) if len(sys.argv) > 4 else 256
    passes = int(sys.argv[5]) if len(sys.argv) > 5 else 4
    texts = open(path).read().splitlines()
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.manual_seed(1)
    began = time.perf_counter()
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=vocabulary, pad_token="[PAD]", model_max_length=256)
    config = BertConfig(
        vocab_size=30522, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536, hidden_act="gelu",
        max_position_embeddings=512, attn_implementation="sdpa")
    model = BertModel(config, add_pooling_layer=False).eval().to("cuda", dtype)
    torch.cuda.synchronize()
    load = time.perf_counter() - began
    times = []
    with torch.inference_mode():
        for _ in range(passes):
            began = time.perf_counter()
            order = sorted(range(len(texts)), key=lambda i: -len(texts[i]))
            vectors = [None] * len(texts)
            tokens = 0
            for at in range(0, len(order), batch):
                which = order[at:at + batch]
                inputs = tokenizer([texts[i] for i in which], padding=True, truncation=True, return_tensors="pt").to("cuda")
                hidden = model(
                    input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"],
                    token_type_ids=torch.zeros_like(inputs["input_ids"])).last_hidden_state
                mask = inputs["attention_mask"].unsqueeze(-1)
                pooled = torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=1).float()
                tokens += int(inputs["input_ids"].numel())
                for i, row in zip(which, pooled.cpu().numpy()):
                    vectors[i] = row
            times.append(round(time.perf_counter() - began, 3))
    print(json.dumps({
        "bench": "texts", "peer": "pytorch " + torch.__version__, "card": torch.cuda.get_device_name(), "texts": len(texts),
        "weights": str(dtype), "batch": batch, "padded_tokens": tokens, "load_s": round(load, 3), "pass_s": times}), flush=True)


main()
