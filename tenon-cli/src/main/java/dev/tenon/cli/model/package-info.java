/**
 * Commands that take a model: {@code embed}, {@code run}, {@code explain}, and the options and generated inputs that
 * others share.
 */
@NullMarked
package dev.tenon.cli.model;

import org.jspecify.annotations.NullMarked;
