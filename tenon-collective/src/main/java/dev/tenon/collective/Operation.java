package dev.tenon.collective;

/** What all ranks do together. */
public enum Operation {
    ALL_REDUCE("allReduce"),
    REDUCE_SCATTER("reduceScatter"),
    ALL_GATHER("allGather"),
    BROADCAST("broadcast"),
    BARRIER("barrier");

    private final String text;

    Operation(String text) {
        this.text = text;
    }

    /** The name of the method. */
    @Override
    public String toString() {
        return text;
    }
}
