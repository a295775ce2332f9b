package dev.tenon.nativelib;

import java.util.List;

/** The libraries that the CUDA backend uses, newest versions first; CUDA 12 and 13. */
public final class CudaLibraries {
    private static final String TOOLKIT = "install CUDA's toolkit, or ";

    public static final LibraryName DRIVER = new LibraryName(
                    "libcuda",
                    List.of("libcuda.so.1", "libcuda.so"),
                    List.of("nvcuda.dll"),
                    "every CUDA device",
                    "install an NVIDIA driver for CUDA 12.0 (525) or newer")
            .withRefusal(DriverVersion::refusal);

    public static final LibraryName NVRTC = new LibraryName(
                    "nvrtc",
                    List.of("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"),
                    List.of("nvrtc64_130_0.dll", "nvrtc64_120_0.dll"),
                    "compiling kernels on first use: prebuilt PTX or nvcc serve instead, and generated fusions need one of the two compilers",
                    TOOLKIT + "pip install nvidia-cuda-nvrtc")
            .withCompanions("libnvrtc-builtins.so.*", "nvrtc-builtins64_*.dll");

    /** The same for a driver of CUDA 12, which may refuse what a compiler of CUDA 13 makes. */
    public static final LibraryName NVRTC_12 = new LibraryName(
                    "nvrtc 12",
                    List.of("libnvrtc.so.12"),
                    List.of("nvrtc64_120_0.dll"),
                    NVRTC.lost(),
                    TOOLKIT + "pip install nvidia-cuda-nvrtc-cu12")
            .withCompanions("libnvrtc-builtins.so.12.*", "nvrtc-builtins64_12*.dll");

    public static final LibraryName CUBLAS = new LibraryName(
                    "cublas",
                    List.of("libcublas.so.13", "libcublas.so.12", "libcublas.so"),
                    List.of("cublas64_13.dll", "cublas64_12.dll"),
                    "the fastest matrix products: Tenon's own kernels serve instead",
                    TOOLKIT + "pip install nvidia-cublas")
            .withCompanions("libcublasLt.so.*");

    public static final LibraryName CUBLAS_LT = new LibraryName(
            "cublasLt",
            List.of("libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"),
            List.of("cublasLt64_13.dll", "cublasLt64_12.dll"),
            "matrix products with bias and activation in one call",
            TOOLKIT + "pip install nvidia-cublas");

    /** The same two for a driver of CUDA 12, on which those of CUDA 13 do not start. */
    public static final LibraryName CUBLAS_12 = new LibraryName(
                    "cublas 12",
                    List.of("libcublas.so.12"),
                    List.of("cublas64_12.dll"),
                    CUBLAS.lost(),
                    TOOLKIT + "pip install nvidia-cublas-cu12")
            .withCompanions("libcublasLt.so.12*");

    public static final LibraryName CUBLAS_LT_12 = new LibraryName(
            "cublasLt 12",
            List.of("libcublasLt.so.12"),
            List.of("cublasLt64_12.dll"),
            CUBLAS_LT.lost(),
            TOOLKIT + "pip install nvidia-cublas-cu12");

    public static final LibraryName CUDNN = new LibraryName(
            "cudnn",
            List.of("libcudnn.so.9", "libcudnn.so"),
            List.of("cudnn64_9.dll"),
            "the fastest convolutions: Tenon's own kernels serve instead",
            "pip install nvidia-cudnn-cu13 (or -cu12), or the distribution's cuDNN 9");

    public static final LibraryName NCCL = new LibraryName(
            "nccl",
            List.of("libnccl.so.2", "libnccl.so"),
            List.of(),
            "collectives between GPUs",
            "pip install nvidia-nccl-cu13 (or -cu12), or the distribution's libnccl2");

    public static final LibraryName NVTX = new LibraryName(
            "nvtx",
            List.of("libnvtx3interop.so.1", "libnvToolsExt.so.1", "libnvToolsExt.so"),
            List.of("nvtx3interop64_1.dll", "nvToolsExt64_1.dll"),
            "named ranges in Nsight's time lines",
            TOOLKIT + "pip install nvidia-nvtx");

    /** All of them, in the order that matters most first. */
    public static final List<LibraryName> ALL = List.of(DRIVER, NVRTC, CUBLAS, CUBLAS_LT, CUDNN, NCCL, NVTX);

    private CudaLibraries() {}
}
