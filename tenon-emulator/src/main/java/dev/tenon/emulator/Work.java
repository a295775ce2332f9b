package dev.tenon.emulator;

import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.nativelib.emulated.KernelFault;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A piece of work in a stream. Run by the stream's thread; what it throws ends the device. */
sealed interface Work {
    void run(EmulatedDevice device, @Nullable OrderClock clock) throws InterruptedException;

    /** Whether a graph may take the other's parameters over in its place. */
    boolean like(Work other);

    record Launch(EmulatedFunction function, LaunchShape shape, MemorySegment arguments) implements Work {
        @Override
        public void run(EmulatedDevice device, @Nullable OrderClock clock) {
            KernelFault fault = device.library()
                    .launch(
                            device.pool(),
                            function.module().running(),
                            function.entry(),
                            new int[] {shape.gridX(), shape.gridY(), shape.gridZ()},
                            new int[] {shape.blockX(), shape.blockY(), shape.blockZ()},
                            shape.sharedBytes(),
                            shape.cooperative(),
                            arguments,
                            clock == null ? null : clock.order());
            if (fault != null) {
                device.lose(FaultText.of(function, shape, fault));
            }
        }

        @Override
        public boolean like(Work other) {
            return other instanceof Launch launch
                    && launch.function == function
                    && launch.shape.cooperative() == shape.cooperative();
        }
    }

    record ToDevice(MemorySegment from, EmulatedBuffer to, long offset) implements Work {
        @Override
        public void run(EmulatedDevice device, @Nullable OrderClock clock) {
            Work.note(device, clock, to, offset, from.byteSize(), true);
            to.part(offset, from.byteSize()).copyFrom(from);
        }

        @Override
        public boolean like(Work other) {
            return other instanceof ToDevice copy && copy.from.byteSize() == from.byteSize();
        }
    }

    record ToHost(EmulatedBuffer from, long offset, MemorySegment to) implements Work {
        @Override
        public void run(EmulatedDevice device, @Nullable OrderClock clock) {
            Work.note(device, clock, from, offset, to.byteSize(), false);
            to.copyFrom(from.part(offset, to.byteSize()));
        }

        @Override
        public boolean like(Work other) {
            return other instanceof ToHost copy && copy.to.byteSize() == to.byteSize();
        }
    }

    record OnDevice(EmulatedBuffer from, long fromOffset, EmulatedBuffer to, long toOffset, long bytes)
            implements Work {
        @Override
        public void run(EmulatedDevice device, @Nullable OrderClock clock) {
            Work.note(device, clock, from, fromOffset, bytes, false);
            Work.note(device, clock, to, toOffset, bytes, true);
            to.part(toOffset, bytes).copyFrom(from.part(fromOffset, bytes));
        }

        @Override
        public boolean like(Work other) {
            return other instanceof OnDevice copy && copy.bytes == bytes;
        }
    }

    record Fill(EmulatedBuffer buffer, long offset, long bytes, byte value) implements Work {
        @Override
        public void run(EmulatedDevice device, @Nullable OrderClock clock) {
            Work.note(device, clock, buffer, offset, bytes, true);
            buffer.part(offset, bytes).fill(value);
        }

        @Override
        public boolean like(Work other) {
            return other instanceof Fill;
        }
    }

    record Mark(EmulatedEvent event, long number) implements Work {
        @Override
        public void run(EmulatedDevice device, @Nullable OrderClock clock) {
            event.pass(number, clock);
        }

        @Override
        public boolean like(Work other) {
            return other instanceof Mark;
        }
    }

    record Wait(EmulatedEvent event, long number) implements Work {
        @Override
        public void run(EmulatedDevice device, @Nullable OrderClock clock) throws InterruptedException {
            event.awaitPassed(number, clock);
        }

        @Override
        public boolean like(Work other) {
            return other instanceof Wait;
        }
    }

    /** Recorded work: each node's clock is that of the stream that it was recorded on. */
    record Replay(ReplayableGraph graph, List<RecordedGraph.Node> nodes) implements Work {
        @Override
        public void run(EmulatedDevice device, @Nullable OrderClock clock) throws InterruptedException {
            for (RecordedGraph.Node node : nodes) {
                if (device.healthy()) {
                    OrderClock own = graph.clock(node.stream(), clock);
                    if (own != null) {
                        own.advance();
                    }
                    node.work().run(device, own);
                }
            }
        }

        @Override
        public boolean like(Work other) {
            return false; // graphs are not recorded into graphs
        }
    }

    /** What is enqueued next comes after all that the host has waited for. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record AfterHost(long[] known) implements Work {
        @Override
        public void run(EmulatedDevice device, @Nullable OrderClock clock) {
            if (clock != null) {
                clock.join(known);
            }
        }

        @Override
        public boolean like(Work other) {
            return false; // never recorded
        }
    }

    private static void note(
            EmulatedDevice device,
            @Nullable OrderClock clock,
            EmulatedBuffer buffer,
            long offset,
            long bytes,
            boolean writes) {
        if (clock != null) {
            clock.note(device.library(), buffer, offset, bytes, writes);
        }
    }
}
