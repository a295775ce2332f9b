/**
 * Which stream each step of a plan runs on, and what it waits for: pure functions of what steps read, write and cost.
 * Knows neither streams nor events.
 */
@NullMarked
package dev.tenon.cuda.schedule;

import org.jspecify.annotations.NullMarked;
