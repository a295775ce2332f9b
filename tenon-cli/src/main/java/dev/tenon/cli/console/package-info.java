/**
 * What every command says and takes: values of options, tables, JSON, units, progress, failures in one line.
 */
@NullMarked
package dev.tenon.cli.console;

import org.jspecify.annotations.NullMarked;
