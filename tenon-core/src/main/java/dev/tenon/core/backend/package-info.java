/**
 * The contract between the runtime and a backend. A backend is found through {@link java.util.ServiceLoader} and opens
 * devices; a device compiles plans to programs; a program runs in the state of a session.
 *
 * <p>Owns the contract only.
 */
@NullMarked
package dev.tenon.core.backend;

import org.jspecify.annotations.NullMarked;
