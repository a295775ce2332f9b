/** Steps that only move elements. */
@NullMarked
package dev.tenon.cuda.lower.movement;

import org.jspecify.annotations.NullMarked;
