/**
 * What all bindings share: a library that was looked for, its functions, and a checked call.
 *
 * <p>Owns the {@code Linker}; does not own what the libraries' objects mean to the backends.
 */
@NullMarked
package dev.tenon.nativelib;

import org.jspecify.annotations.NullMarked;
