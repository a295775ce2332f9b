/**
 * Operations that only move elements.
 */
@NullMarked
package dev.tenon.cpu.movement;

import org.jspecify.annotations.NullMarked;
