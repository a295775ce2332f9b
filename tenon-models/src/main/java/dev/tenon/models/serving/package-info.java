/** Requests of many clients, put together for a device. Owns waiting, deadlines and refusals; not what is run. */
@NullMarked
package dev.tenon.models.serving;

import org.jspecify.annotations.NullMarked;
