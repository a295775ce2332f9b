package dev.tenon.emulator;

import dev.tenon.cuda.port.LaunchShape;
import dev.tenon.nativelib.emulated.KernelFault;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** A piece of work in a stream. Run by the stream's thread; what it throws ends the device. */
sealed interface Work {
    void run(EmulatedDevice device) throws InterruptedException;

    /** Whether a graph may take the other's parameters over in its place. */
    boolean like(Work other);

    record Launch(EmulatedFunction function, LaunchShape shape, MemorySegment arguments) implements Work {
        @Override
        public void run(EmulatedDevice device) {
            KernelFault fault = device.library()
                    .launch(
                            device.pool(),
                            function.module().running(),
                            function.entry(),
                            new int[] {shape.gridX(), shape.gridY(), shape.gridZ()},
                            new int[] {shape.blockX(), shape.blockY(), shape.blockZ()},
                            shape.sharedBytes(),
                            shape.cooperative(),
                            arguments);
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
        public void run(EmulatedDevice device) {
            to.part(offset, from.byteSize()).copyFrom(from);
        }

        @Override
        public boolean like(Work other) {
            return other instanceof ToDevice copy && copy.from.byteSize() == from.byteSize();
        }
    }

    record ToHost(EmulatedBuffer from, long offset, MemorySegment to) implements Work {
        @Override
        public void run(EmulatedDevice device) {
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
        public void run(EmulatedDevice device) {
            to.part(toOffset, bytes).copyFrom(from.part(fromOffset, bytes));
        }

        @Override
        public boolean like(Work other) {
            return other instanceof OnDevice copy && copy.bytes == bytes;
        }
    }

    record Fill(EmulatedBuffer buffer, long offset, long bytes, byte value) implements Work {
        @Override
        public void run(EmulatedDevice device) {
            buffer.part(offset, bytes).fill(value);
        }

        @Override
        public boolean like(Work other) {
            return other instanceof Fill;
        }
    }

    record Mark(EmulatedEvent event, long number) implements Work {
        @Override
        public void run(EmulatedDevice device) {
            event.pass(number);
        }

        @Override
        public boolean like(Work other) {
            return other instanceof Mark;
        }
    }

    record Wait(EmulatedEvent event, long number) implements Work {
        @Override
        public void run(EmulatedDevice device) throws InterruptedException {
            event.awaitPassed(number);
        }

        @Override
        public boolean like(Work other) {
            return other instanceof Wait;
        }
    }

    record Replay(List<Work> nodes) implements Work {
        @Override
        public void run(EmulatedDevice device) throws InterruptedException {
            for (Work node : nodes) {
                if (device.healthy()) {
                    node.run(device);
                }
            }
        }

        @Override
        public boolean like(Work other) {
            return false; // graphs are not recorded into graphs
        }
    }
}
