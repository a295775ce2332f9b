package dev.tenon.cuda.lower.step;

/** What becomes of a node on a GPU: the step that does its work, or the reason why no kernel does. */
public sealed interface Lowered permits GpuStep, NoKernel {}
