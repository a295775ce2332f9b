/**
 * The {@code tenon} command: one class a subcommand, tables for eyes and JSON lines for machines.
 *
 * <p>Owns wording and arguments. Does not own any work: everything it does is a call that a Java program could make.
 */
@NullMarked
package dev.tenon.cli;

import org.jspecify.annotations.NullMarked;
