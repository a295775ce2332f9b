package dev.tenon.cuda.dnn;

/**
 * An operation, and whether a kernel of ours may make it.
 *
 * @param rivalled whether that such a kernel is the fastest may be the answer
 */
public record DnnAsked(DnnOperation problem, boolean rivalled) {}
