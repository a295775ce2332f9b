/**
 * What all bindings share: a library that was looked for, its functions, and a checked call.
 *
 * <p>Owns the {@code Linker}; does not own what the libraries' objects mean to the backends.
 *
 * <p>{@code LibraryFinder} looks in {@code TENON_LIBRARY_PATH}, on the loader's path, and where toolkits, Python
 * packages and distributions put libraries, unless {@code TENON_HIDE_LIBRARIES} names the library. A search never
 * throws, and its answer is kept. Functions come in tiers: C names without policy, bound on first use; a check that
 * turns a status into an exception with call, arguments and code; owned objects. A test compares constants and layouts
 * with {@code cuda.h} where that file is there.
 */
@NullMarked
package dev.tenon.nativelib;

import org.jspecify.annotations.NullMarked;
