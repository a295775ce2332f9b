/**
 * The GPU platform of libcuda: {@link dev.tenon.cuda.port.GpuDriver} over the driver's functions. Owns devices,
 * contexts, lifetimes, and which faults are recoverable; does not own what is compiled or launched.
 *
 * <p><b>Threads.</b> The driver keeps its current context by operating-system thread, and a virtual thread may wake up
 * on another carrier than it fell asleep on. So nothing is remembered: every native section sets the current context
 * and then calls, with nothing between the two that could block; a virtual thread changes its carrier only where it
 * blocks, and downcalls pin it while they run. Binding a function on its first call happens in a class initialiser,
 * within which a virtual thread is pinned too. The context stays current afterwards: a pop would double the cost of a
 * launch, and code that cares for another current context sets its own.
 *
 * <p><b>Capture.</b> Begun on a platform thread it uses the thread-local mode, in which the driver refuses what cannot
 * be recorded. That mode is tied to the operating-system thread, so captures begun on a virtual thread use the relaxed
 * mode; in both, what Tenon's own calls must not do during capture is refused before the driver sees it.
 *
 * <p><b>Closing.</b> Each object counts the calls in flight in it; closing waits for them, then refuses new ones, and
 * destroys once. A context closes what it handed out, streams first, and its device's primary context is released with
 * the last. After a fault that loses the context nothing is destroyed piece by piece: the release does it. Nothing is
 * destroyed at the end of the process, when the driver may be half torn down: the JVM lets no thread make a new
 * downcall then, and what is left goes with the process.
 */
@NullMarked
package dev.tenon.cuda.driver;

import org.jspecify.annotations.NullMarked;
