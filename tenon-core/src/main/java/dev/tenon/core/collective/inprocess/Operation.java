package dev.tenon.core.collective.inprocess;

/** What all ranks do together in a round. */
enum Operation {
    ALL_REDUCE("allReduce"),
    REDUCE_SCATTER("reduceScatter"),
    ALL_GATHER("allGather"),
    BROADCAST("broadcast"),
    BARRIER("barrier");

    private final String text;

    Operation(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
