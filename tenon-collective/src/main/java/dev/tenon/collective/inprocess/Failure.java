package dev.tenon.collective.inprocess;

import dev.tenon.core.error.CollectiveException;

/** Why an operation fails, told to each rank in its own words. */
interface Failure {
    CollectiveException at(int rank);
}
