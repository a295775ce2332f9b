/** Lowering of random numbers and of sampling. */
@NullMarked
package dev.tenon.cuda.lower.random;

import org.jspecify.annotations.NullMarked;
