package dev.tenon.cuda.lower.step;

/**
 * No kernel does the work of a node.
 *
 * @param reason one line for people, without the node's name
 */
public record NoKernel(String reason) implements Lowered {}
