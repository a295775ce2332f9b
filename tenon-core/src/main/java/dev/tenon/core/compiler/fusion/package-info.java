/**
 * Passes that make one node of several.
 */
@NullMarked
package dev.tenon.core.compiler.fusion;

import org.jspecify.annotations.NullMarked;
