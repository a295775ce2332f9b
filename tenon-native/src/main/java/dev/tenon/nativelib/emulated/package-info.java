/**
 * Bindings to the emulator's runtime object, which the emulator builds with the host's C++ compiler. Owns the calls and
 * their memory layouts; does not own what they mean.
 */
@NullMarked
package dev.tenon.nativelib.emulated;

import org.jspecify.annotations.NullMarked;
