package dev.tenon.cli;
import picocli.CommandLine.Command;
@Command(name = "allreduce")
final class AllReduceCommand implements Runnable { public void run() {} }
