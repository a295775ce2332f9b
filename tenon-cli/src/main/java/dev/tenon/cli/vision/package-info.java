/** Commands about pictures. */
@NullMarked
package dev.tenon.cli.vision;

import org.jspecify.annotations.NullMarked;
