"""PyTorch's times for convolutional networks and single convolutions, inside a CUDA graph, and the same networks as ONNX files.

python3 vision_torch.py export FOLDER      resnet50, mobilenet_v3_large and convnext_tiny with a named batch, resnet50-sizes with named sides
                                           with --start the layer scales of convnext are 1e-6
python3 vision_torch.py networks           f16 NHWC at 224 x 224, batches of 1, 8 and 64
python3 vision_torch.py convolutions       the convolutions of "tenon bench ops", f16 NHWC and TF32 in both layouts
"""
import os
import statistics
import sys

import torch
import torchvision

NETWORKS = ("resnet50", "mobilenet_v3_large", "convnext_tiny")
CONVOLUTIONS = (
    (1, 64, 224, 64, 3, 1), (32, 64, 56, 64, 3, 1), (32, 256, 56, 64, 1, 1),
    (32, 256, 14, 256, 3, 1), (8, 512, 28, 512, 3, 2), (1, 3, 640, 32, 3, 2),
)


def graph_us(work, together, replays):
    with torch.no_grad():
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                work()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(together):
                work()
        for _ in range(3):
            graph.replay()
        times = []
        for _ in range(replays):
            start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            start.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(end) * 1000 / together)
        return statistics.median(times)


def network(name):
    """Random weights. The layer scales of convnext are as training leaves them, not the 1e-6 from which it starts."""
    model = getattr(torchvision.models, name)().eval()
    for key, parameter in model.named_parameters():
        if key.endswith("layer_scale") and "--start" not in sys.argv:
            torch.nn.init.uniform_(parameter, 0.1, 1.0)
    return model


def export(folder):
    os.makedirs(folder, exist_ok=True)
    for name in NETWORKS:
        model = network(name)
        axes = {"x": {0: "batch"}, "y": {0: "batch"}}
        torch.onnx.export(model, torch.randn(1, 3, 224, 224), f"{folder}/{name}.onnx", input_names=["x"], output_names=["y"], dynamic_axes=axes,
                          opset_version=17, dynamo=False)
    model = torchvision.models.resnet50().eval()
    torch.onnx.export(model, torch.randn(1, 3, 224, 224), f"{folder}/resnet50-sizes.onnx", input_names=["x"], output_names=["y"],
                      dynamic_axes={"x": {2: "height", 3: "width"}}, opset_version=17, dynamo=False)


def networks():
    for name in NETWORKS:
        for batch in (1, 8, 64):
            model = network(name).cuda().half().to(memory_format=torch.channels_last)
            x = torch.randn(batch, 3, 224, 224, device="cuda", dtype=torch.half).contiguous(memory_format=torch.channels_last)
            print(f"PEER {name} b{batch} f16 NHWC: {graph_us(lambda: model(x), 1, 41):.0f} us", flush=True)


def convolutions():
    for form in CONVOLUTIONS:
        batch, channels, side, outputs, kernel, stride = form
        for dtype, last in ((torch.half, True), (torch.float, False), (torch.float, True)):
            memory = torch.channels_last if last else torch.contiguous_format
            x = torch.randn(batch, channels, side, side, device="cuda", dtype=dtype).contiguous(memory_format=memory)
            w = torch.randn(outputs, channels, kernel, kernel, device="cuda", dtype=dtype).contiguous(memory_format=memory)
            work = lambda: torch.nn.functional.conv2d(x, w, stride=stride, padding=kernel // 2)
            print(f"PEER conv {' '.join(map(str, form))} {'f16' if dtype == torch.half else 'TF32'} {'NHWC' if last else 'NCHW'}: "
                  f"{graph_us(work, 20, 21):.1f} us", flush=True)


def main():
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cuda.matmul.allow_tf32 = True
    if sys.argv[1] == "export":
        export(sys.argv[2])
        return
    print("PEER", torch.__version__, "cuDNN", torch.backends.cudnn.version(), torch.cuda.get_device_name(), flush=True)
    networks() if sys.argv[1] == "networks" else convolutions()


main()
