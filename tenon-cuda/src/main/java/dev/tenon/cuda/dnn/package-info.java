/**
 * cuDNN: convolutions and attention as graphs that its heuristics choose a plan for, never timed on a caller's request.
 * The library is looked for and started when a plan first has one.
 */
@NullMarked
package dev.tenon.cuda.dnn;

import org.jspecify.annotations.NullMarked;
