/**
 * Which of a library's algorithms is the fastest for a problem: measured while the device rests, kept beside the
 * compiled kernels.
 */
@NullMarked
package dev.tenon.cuda.tuning;

import org.jspecify.annotations.NullMarked;
