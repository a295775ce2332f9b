/**
 * What the runtime sees of a GPU platform: a backend opens devices, a device holds weights and makes programs, a session's memory and stream run them.
 *
 * <p>Owns memory, streams, copies and the order of steps; which kernel a step launches is {@code lower}'s.
 */
@NullMarked
package dev.tenon.cuda.backend;

import org.jspecify.annotations.NullMarked;
