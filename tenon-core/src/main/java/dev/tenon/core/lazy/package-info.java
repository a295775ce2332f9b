/**
 * Values made on first use, in a way that an exhausted heap cannot make permanent.
 *
 * <p>A static initialiser that throws, an {@link OutOfMemoryError} for example, makes its class unusable for the rest
 * of the process. Code that allocates for a table therefore stands in a {@link dev.tenon.core.lazy.Lazy} or a {@link
 * dev.tenon.core.lazy.LazyMap}: both try again after a failure. {@link dev.tenon.core.lazy.Headroom} stands before code
 * that runs for the first time.
 */
@NullMarked
package dev.tenon.core.lazy;

import org.jspecify.annotations.NullMarked;
