/** Pages that commands write: a compiled model, a profile. */
package dev.tenon.cli.page;
