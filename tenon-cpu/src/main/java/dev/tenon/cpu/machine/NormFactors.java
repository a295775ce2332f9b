package dev.tenon.cpu.machine;

/** What a norm does to a number before scale and bias: (x - mean) factor + addend. */
public record NormFactors(float mean, float factor, float addend) {}
