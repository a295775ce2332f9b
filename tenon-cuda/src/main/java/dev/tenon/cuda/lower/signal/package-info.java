/** Steps of signals: Fourier transforms. */
@NullMarked
package dev.tenon.cuda.lower.signal;

import org.jspecify.annotations.NullMarked;
