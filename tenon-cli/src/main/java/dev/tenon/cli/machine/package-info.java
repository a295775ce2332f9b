/**
 * {@code doctor} and {@code devices}: what this machine has, and what to do about the rest.
 */
@NullMarked
package dev.tenon.cli.machine;

import org.jspecify.annotations.NullMarked;
