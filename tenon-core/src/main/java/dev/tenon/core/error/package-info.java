/**
 * The one family of exceptions that Tenon throws for faults of its callers, their files and their machines.
 *
 * <p>Owns the types and the form of their messages. Does not own recovery: the code that throws says
 * what to do about it.
 */
@NullMarked
package dev.tenon.core.error;

import org.jspecify.annotations.NullMarked;
