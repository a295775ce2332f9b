package dev.tenon.nativelib.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Constants and struct layouts against what a C program prints: a fresh one where cuda.h and a compiler are, and always
 * against what such a program printed before (cuda.h 13.0).
 */
class HeaderTest {
    private static final Map<String, Integer> PRINTED = Map.ofEntries(
            Map.entry("sizeof(CUlaunchConfig)", 56),
            Map.entry("offsetof(CUlaunchConfig, gridDimX)", 0),
            Map.entry("offsetof(CUlaunchConfig, blockDimX)", 12),
            Map.entry("offsetof(CUlaunchConfig, sharedMemBytes)", 24),
            Map.entry("offsetof(CUlaunchConfig, hStream)", 32),
            Map.entry("offsetof(CUlaunchConfig, attrs)", 40),
            Map.entry("offsetof(CUlaunchConfig, numAttrs)", 48),
            Map.entry("sizeof(CUlaunchAttribute)", 72),
            Map.entry("offsetof(CUlaunchAttribute, id)", 0),
            Map.entry("offsetof(CUlaunchAttribute, value)", 8),
            Map.entry("sizeof(CUgraphExecUpdateResultInfo)", 24),
            Map.entry("sizeof(CUtensorMap)", 128),
            Map.entry("alignof(CUtensorMap)", 128));

    private static Map<String, Integer> layouts() {
        Map<String, Integer> ours = new LinkedHashMap<>();
        ours.put("sizeof(CUlaunchConfig)", CuStructs.LAUNCH_CONFIG_BYTES);
        ours.put("offsetof(CUlaunchConfig, gridDimX)", CuStructs.LAUNCH_CONFIG_GRID_X);
        ours.put("offsetof(CUlaunchConfig, blockDimX)", CuStructs.LAUNCH_CONFIG_BLOCK_X);
        ours.put("offsetof(CUlaunchConfig, sharedMemBytes)", CuStructs.LAUNCH_CONFIG_SHARED_BYTES);
        ours.put("offsetof(CUlaunchConfig, hStream)", CuStructs.LAUNCH_CONFIG_STREAM);
        ours.put("offsetof(CUlaunchConfig, attrs)", CuStructs.LAUNCH_CONFIG_ATTRIBUTES);
        ours.put("offsetof(CUlaunchConfig, numAttrs)", CuStructs.LAUNCH_CONFIG_ATTRIBUTE_COUNT);
        ours.put("sizeof(CUlaunchAttribute)", CuStructs.LAUNCH_ATTRIBUTE_BYTES);
        ours.put("offsetof(CUlaunchAttribute, id)", CuStructs.LAUNCH_ATTRIBUTE_ID);
        ours.put("offsetof(CUlaunchAttribute, value)", CuStructs.LAUNCH_ATTRIBUTE_VALUE);
        ours.put("sizeof(CUgraphExecUpdateResultInfo)", CuStructs.GRAPH_UPDATE_RESULT_BYTES);
        ours.put("sizeof(CUtensorMap)", CuStructs.TENSOR_MAP_BYTES);
        ours.put("alignof(CUtensorMap)", CuStructs.TENSOR_MAP_ALIGNMENT);
        return ours;
    }

    @Test
    void layoutsAreAsPrinted() {
        assertThat(layouts()).containsExactlyInAnyOrderEntriesOf(PRINTED);
    }

    @Test
    void constantsAndLayoutsAreTheHeaders(@TempDir Path folder) throws Exception {
        Path header = header();
        org.junit.jupiter.api.Assumptions.assumeTrue(header != null, "no cuda.h");
        Map<String, Integer> ours = new LinkedHashMap<>(layouts());
        for (Field field : CuConstants.class.getFields()) {
            ours.put("CU_" + field.getName(), field.getInt(null));
        }
        for (Field field : CuStatus.class.getFields()) {
            if (field.getType() == int.class) {
                String name = field.getName();
                ours.put(name.equals("SUCCESS") ? "CUDA_SUCCESS" : "CUDA_ERROR_" + name, field.getInt(null));
            }
        }
        StringBuilder program =
                new StringBuilder("#include <cuda.h>\n#include <cstddef>\n#include <cstdio>\nint main() {\n");
        ours.keySet().forEach(expression -> program.append("  printf(\"%d\\n\", (int)(" + expression + "));\n"));
        Path source = Files.writeString(folder.resolve("probe.cpp"), program + "}\n");
        Path binary = folder.resolve("probe");
        run(List.of(
                "g++",
                "-w",
                "-std=c++17",
                "-I",
                header.getParent().toString(),
                "-o",
                binary.toString(),
                source.toString()));
        List<String> printed = run(List.of(binary.toString())).lines().toList();
        List<String> expected = ours.values().stream().map(String::valueOf).toList();
        List<String> names = new ArrayList<>(ours.keySet());
        assertThat(printed).hasSameSizeAs(expected);
        for (int i = 0; i < expected.size(); i++) {
            String name = names.get(i);
            if (name.equals("alignof(CUtensorMap)")) { // 64 before CUDA 13; more serves both
                assertThat(128 % Integer.parseInt(printed.get(i))).isZero();
            } else {
                assertThat(expected.get(i)).as(name).isEqualTo(printed.get(i));
            }
        }
    }

    private static Path header() {
        return Stream.of(System.getenv("CUDA_HOME"), "/usr/local/cuda", "/usr/local/cuda-13.0")
                .filter(home -> home != null && !home.isBlank())
                .map(home -> Path.of(home, "include", "cuda.h"))
                .filter(Files::exists)
                .findFirst()
                .orElse(null);
    }

    private static String run(List<String> command) throws Exception {
        Process process;
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (java.io.IOException e) {
            throw new org.opentest4j.TestAbortedException("cannot run " + command.getFirst(), e);
        }
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor(120, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
        return output;
    }
}
