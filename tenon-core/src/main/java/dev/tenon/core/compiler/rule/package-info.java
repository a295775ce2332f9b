/**
 * Small rules that make a graph simpler, each its own class, and the passes that apply them.
 */
@NullMarked
package dev.tenon.core.compiler.rule;

import org.jspecify.annotations.NullMarked;
