/**
 * cuDNN: convolutions and attention as graphs, planned ahead by threads of their own, never timed on a request.
 * The library is looked for and started when a plan first has one.
 */
@NullMarked
package dev.tenon.cuda.dnn;

import org.jspecify.annotations.NullMarked;
