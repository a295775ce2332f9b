package dev.tenon.nativelib.emulated;

/**
 * Why a launch failed.
 *
 * @param text what happened
 * @param block where, as {@code (x,y,z)}
 * @param thread which, as {@code (x,y,z)}
 * @param file the source file; empty where only {@code offset} tells
 * @param line the source line; 0 where only {@code offset} tells
 * @param offset of the address behind the faulty call within the kernel's object; 0 where unknown
 */
public record KernelFault(String text, String block, String thread, String file, int line, long offset) {}
