/**
 * A place in memory for every value of a plan.
 */
@NullMarked
package dev.tenon.core.compiler.memory;

import org.jspecify.annotations.NullMarked;
