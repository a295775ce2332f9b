/**
 * Operations that a program defines for itself: rules, reference, a body for the CPU and sources for devices.
 *
 * <p>Knows no device's language: a body for a device is text under the language's name, which its backend reads.
 */
@NullMarked
package dev.tenon.core.ir.op.custom;

import org.jspecify.annotations.NullMarked;
