/** Where the time of runs goes, by kind of step. */
@NullMarked
package dev.tenon.cli.profile;

import org.jspecify.annotations.NullMarked;
