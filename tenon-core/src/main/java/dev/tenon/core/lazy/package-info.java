/**
 * Values made on first use, in a way that an exhausted heap cannot make permanent.
 *
 * <p>A static initialiser that throws, an {@link OutOfMemoryError} for one, makes its class unusable for the rest of the process. Whatever allocates is therefore made by a {@link dev.tenon.core.lazy.Lazy} or in a
 * {@link dev.tenon.core.lazy.LazyMap}: both try again after a failure.
 */
@NullMarked
package dev.tenon.core.lazy;

import org.jspecify.annotations.NullMarked;
