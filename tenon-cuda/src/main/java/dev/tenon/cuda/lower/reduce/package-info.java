/** Steps that make one element of many along axes. */
@NullMarked
package dev.tenon.cuda.lower.reduce;

import org.jspecify.annotations.NullMarked;
