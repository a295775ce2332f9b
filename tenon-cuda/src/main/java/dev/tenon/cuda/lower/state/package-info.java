/** Lowering of layers that carry a state along a sequence. */
@NullMarked
package dev.tenon.cuda.lower.state;

import org.jspecify.annotations.NullMarked;
