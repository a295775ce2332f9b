package dev.tenon.nativelib.cuda;

import static dev.tenon.nativelib.Downcalls.INT;
import static dev.tenon.nativelib.Downcalls.LONG;
import static dev.tenon.nativelib.Downcalls.rethrow;
import static dev.tenon.nativelib.Downcalls.status;

import java.lang.invoke.MethodHandle;

/** Capture and graphs. C names, C order of parameters, statuses as they come. */
public final class CuGraph {
    private CuGraph() {}

    public static int cuStreamBeginCapture(long stream, int mode) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuStreamBeginCapture", 12000, status(LONG, INT));
        }
        try {
            return (int) Function.HANDLE.invokeExact(stream, mode);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuStreamEndCapture(long stream, long graph) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuStreamEndCapture", 12000, status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(stream, graph);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuStreamIsCapturing(long stream, long status) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuStreamIsCapturing", 12000, status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(stream, status);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuThreadExchangeStreamCaptureMode(long mode) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuThreadExchangeStreamCaptureMode", 12000, status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(mode);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuGraphGetNodes(long graph, long nodes, long count) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuGraphGetNodes", 12000, status(LONG, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(graph, nodes, count);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuGraphNodeGetType(long node, long type) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuGraphNodeGetType", 12000, status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(node, type);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuGraphDestroy(long graph) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuGraphDestroy", 12000, status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(graph);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuGraphInstantiateWithFlags(long executable, long graph, long flags) {
        class Function {
            static final MethodHandle HANDLE =
                    CuLibrary.bind("cuGraphInstantiateWithFlags", 12000, status(LONG, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(executable, graph, flags);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuGraphExecUpdate(long executable, long graph, long result) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuGraphExecUpdate", 12000, status(LONG, LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(executable, graph, result);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuGraphExecDestroy(long executable) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuGraphExecDestroy", 12000, status(LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(executable);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }

    public static int cuGraphLaunch(long executable, long stream) {
        class Function {
            static final MethodHandle HANDLE = CuLibrary.bind("cuGraphLaunch", 12000, status(LONG, LONG));
        }
        try {
            return (int) Function.HANDLE.invokeExact(executable, stream);
        } catch (Throwable t) {
            throw rethrow(t);
        }
    }
}
