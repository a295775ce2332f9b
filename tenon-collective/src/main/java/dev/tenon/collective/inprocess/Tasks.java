package dev.tenon.collective.inprocess;

/** Work on all ranks' buffers, cut into tasks that any rank may do, in any order and at the same time. */
interface Tasks {
    int count();

    void run(int task);
}
