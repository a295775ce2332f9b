/**
 * What a backend is to the runtime: found through {@link java.util.ServiceLoader}, it opens devices; a device compiles plans to programs; a program runs in a context.
 *
 * <p>Owns the contract only.
 */
@NullMarked
package dev.tenon.core.backend;

import org.jspecify.annotations.NullMarked;
