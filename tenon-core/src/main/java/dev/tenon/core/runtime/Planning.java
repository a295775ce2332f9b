package dev.tenon.core.runtime;

import dev.tenon.core.backend.Device;
import dev.tenon.core.compiler.Compiler;
import dev.tenon.core.options.CompileOptions;

/** What all plans of a model are made with. */
record Planning(
        Compiler compiler, Device device, Device.Constants weights, CompileOptions options, ModelEvents events) {}
