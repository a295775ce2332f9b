/** Steps of attention. */
@NullMarked
package dev.tenon.cuda.lower.attention;

import org.jspecify.annotations.NullMarked;
