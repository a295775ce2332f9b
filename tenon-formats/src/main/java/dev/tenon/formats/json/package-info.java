/**
 * A strict, bounded JSON reader for the files that come with models.
 *
 * <p>Owns RFC 8259 and errors that name a place. Does not own what any file means.
 */
@NullMarked
package dev.tenon.formats.json;

import org.jspecify.annotations.NullMarked;
