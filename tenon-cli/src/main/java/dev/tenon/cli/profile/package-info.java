/** Where the time of runs goes: by kind of step as a table, step by step as a trace that Perfetto opens. */
@NullMarked
package dev.tenon.cli.profile;

import org.jspecify.annotations.NullMarked;
