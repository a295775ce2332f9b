package dev.tenon.cuda.lower.step;

import dev.tenon.nativelib.Switches;

/** Which of our kernels for convolutions are taken. */
public enum ConvForm {
    /** By sizes, types and what is there. */
    BY_CHOICE,
    /** That of warpgroups wherever it can, even if a library is there. */
    WARPGROUPS,
    /** By choice, without warpgroups. */
    NO_WARPGROUPS;

    /** What {@code TENON_CONV_WGMMA} asks for: 1 forces warpgroups. Else there are none: they are not timed yet. */
    private static final ConvForm ASKED = Switches.on("TENON_CONV_WGMMA", false) ? WARPGROUPS : NO_WARPGROUPS;

    static ConvForm asked() {
        return ASKED;
    }
}
