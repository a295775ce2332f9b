package dev.tenon.cuda.lower.step;

import dev.tenon.nativelib.Switches;

/** Which of our kernels for convolutions are taken. */
public enum ConvForm {
    /** By sizes, types and what is there. */
    BY_CHOICE,
    /** That of warpgroups wherever it can, even if a library is there. */
    WARPGROUPS,
    /** Likewise, each tile with its weights. */
    WARPGROUPS_FETCHING,
    /** Likewise, weights kept by blocks wherever they have room. */
    WARPGROUPS_KEEPING,
    /** By choice, without warpgroups. */
    NO_WARPGROUPS,
    /** Of few channels the plain one wherever it can, even if a library is there. */
    FEW_CHANNELS,
    /** Of few channels those on tensor cores likewise, each by the positions and output channels of its warps. */
    FEW_CHANNELS_64X32,
    FEW_CHANNELS_32X32,
    FEW_CHANNELS_32X64;

    /** Whether one for few channels is asked for. */
    public boolean isFewChannels() {
        return switch (this) {
            case BY_CHOICE, WARPGROUPS, WARPGROUPS_FETCHING, WARPGROUPS_KEEPING, NO_WARPGROUPS -> false;
            case FEW_CHANNELS, FEW_CHANNELS_64X32, FEW_CHANNELS_32X32, FEW_CHANNELS_32X64 -> true;
        };
    }

    /** Whether warpgroups are asked for. */
    public boolean isWarpgroups() {
        return this == WARPGROUPS || this == WARPGROUPS_FETCHING || this == WARPGROUPS_KEEPING;
    }

    private static final String VARIABLE = "TENON_CONV_WGMMA";

    /** What {@code TENON_CONV_WGMMA} asks for: 1 forces warpgroups, 0 forbids them. */
    private static final ConvForm ASKED = of(System.getenv(VARIABLE) != null, Switches.on(VARIABLE, false));

    static ConvForm asked() {
        return ASKED;
    }

    private static ConvForm of(boolean set, boolean on) {
        return !set ? BY_CHOICE : on ? WARPGROUPS : NO_WARPGROUPS;
    }
}
