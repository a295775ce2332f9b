package dev.tenon.cpu.machine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tenon.cpu.machine.Assembler.Label;
import dev.tenon.cpu.machine.Assembler.Memory;
import dev.tenon.cpu.machine.VexAssembler.Arithmetic;
import java.util.HexFormat;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Encodings beside those of GNU's assembler, at the registers and displacements where their form changes. */
class AssemblerTest {
    private static String hex(Consumer<VectorAssembler> program) {
        VectorAssembler code = new VectorAssembler();
        program.accept(code);
        return HexFormat.of().formatHex(code.bytes());
    }

    @Test
    void generalRegisters() {
        assertThat(hex(code -> code.load(Assembler.RAX, Memory.at(Assembler.RDI, 8))))
                .isEqualTo("488b4708");
        assertThat(hex(code -> code.load(Assembler.R13, Memory.at(Assembler.R12, 0))))
                .isEqualTo("4d8b2c24");
        assertThat(hex(code -> code.load(Assembler.RAX, Memory.at(Assembler.R13, 0))))
                .isEqualTo("498b4500");
        assertThat(hex(code -> code.store(Memory.at(Assembler.RDI, 300), Assembler.R9)))
                .isEqualTo("4c898f2c010000");
        assertThat(hex(code -> code.address(Assembler.RBX, new Memory(Assembler.RAX, Assembler.R12, 2, 0))))
                .isEqualTo("4a8d1c60");
        assertThat(hex(code -> code.push(Assembler.R15))).isEqualTo("4157");
        assertThat(hex(code -> code.multiply(Assembler.RAX, Assembler.R12, 5))).isEqualTo("4969c405000000");
    }

    @Test
    void vectorsOf256Bits() {
        assertThat(hex(code -> code.load256(12, Memory.at(Assembler.RDX, 32)))).isEqualTo("c4617c106220");
        assertThat(hex(code -> code.multiplyAdd256(11, 13, 14))).isEqualTo("c44215b8de");
        assertThat(hex(code -> code.broadcast256(15, new Memory(Assembler.RBP, Assembler.R12, 1, 4))))
                .isEqualTo("c4227d187c2504");
        assertThat(hex(code -> code.storeMasked256(Memory.at(Assembler.R11, 0), 12, 3)))
                .isEqualTo("c4c21d2e1b");
        assertThat(hex(code -> code.shift256(4, 5, 23))).isEqualTo("c4e15d72f517");
        assertThat(hex(code -> code.signs256(4, 5))).isEqualTo("c4e15d72e51f");
        assertThat(hex(code -> code.arithmetic256(Arithmetic.XOR, 11, 13, 14))).isEqualTo("c44115efde");
        assertThat(hex(code -> code.arithmetic256(Arithmetic.MAXIMUM_INTEGERS, 11, 13, 14)))
                .isEqualTo("c442153dde");
    }

    @Test
    void vectorsOf512Bits() {
        assertThat(hex(code -> code.load512(24, Memory.at(Assembler.RDX, 64)))).isEqualTo("62617c48104201");
        assertThat(hex(code -> code.load512(24, Memory.at(Assembler.RDX, 32)))).isEqualTo("62617c48108220000000");
        assertThat(hex(code -> code.multiplyAdd512(23, 25, 31))).isEqualTo("62823540b8ff");
        assertThat(hex(code -> code.multiplyAddBytes512(23, 25, 31))).isEqualTo("6282354050ff");
        assertThat(hex(code -> code.multiplyAddBytes512(0, 26, 24))).isEqualTo("62922d4050c0");
        assertThat(hex(code -> code.multiplyAddBytes512(17, 20, Memory.at(Assembler.RSI, 300))))
                .isEqualTo("62e25d50504e4b");
        assertThat(hex(code -> code.toFloats512(3, 17))).isEqualTo("62b17c485bd9");
        assertThat(hex(code -> code.loadHalves512(24, Memory.at(Assembler.RDX, 32))))
                .isEqualTo("62627d48134201");
        assertThat(hex(code -> code.loadBytes512(8, Memory.at(Assembler.RDX, 64))))
                .isEqualTo("62727d48314204");
        assertThat(hex(code -> code.shiftRight16Of512(23, 22, 4))).isEqualTo("62b1454071d604");
        assertThat(hex(code -> code.broadcast512(29, new Memory(Assembler.RSI, Assembler.R12, 2, 12))))
                .isEqualTo("62227d48186c6603");
        assertThat(hex(code -> code.storeMasked512(Memory.at(Assembler.R11, 64), 2, 17)))
                .isEqualTo("62c17c4a114b01");
        assertThat(hex(code -> code.signs512(4, 21))).isEqualTo("62b15d4872e51f");
        assertThat(hex(code -> code.arithmetic512(Arithmetic.XOR, 23, 25, 31))).isEqualTo("62813540efff");
        assertThat(hex(code -> code.arithmetic512(Arithmetic.MINIMUM_INTEGERS, 23, 25, 31)))
                .isEqualTo("6282354039ff");
        assertThat(hex(code -> code.mask(1, Assembler.RAX))).isEqualTo("c4e17892c8");
    }

    @Test
    void jumpsAndConstants() {
        assertThat(hex(code -> {
                    Label top = new Label();
                    code.place(top);
                    code.subtractConstant(Assembler.RCX, 1);
                    code.jump(Assembler.NOT_EQUAL, top);
                }))
                .isEqualTo("4881e9010000000f85f3ffffff");
        assertThat(hex(code -> {
                    code.constant256(14, 1);
                    code.ret();
                }))
                .isEqualTo("c4627d183501000000c30000803f");
    }

    @Test
    void quarters() {
        assertThat(hex(code -> code.load128(3, new Memory(Assembler.R8, Assembler.RCX, 2, 0))))
                .isEqualTo("c4c178101c48");
        assertThat(hex(code -> code.insert256(3, 1, new Memory(Assembler.R9, Assembler.RSI, 1, 0))))
                .isEqualTo("c4c365181c3101");
        assertThat(hex(code -> code.interleave256(true, 5, 0, 13))).isEqualTo("c4c17c15ed");
        assertThat(hex(code -> code.shuffle256(1, 4, 14, 0xEE))).isEqualTo("c4c15cc6ceee");
        assertThat(hex(code -> code.swapHalves256(7, 8))).isEqualTo("c4c33d06f801");
        assertThat(hex(code -> code.insert512(3, 2, new Memory(Assembler.R9, Assembler.RCX, 1, 16))))
                .isEqualTo("62d36548185c090102");
        assertThat(hex(code -> code.insert512(18, 3, new Memory(Assembler.R11, Assembler.RSI, 1, 0))))
                .isEqualTo("62c36d4018143303");
        assertThat(hex(code -> code.interleave512(false, 4, 0, 1))).isEqualTo("62f17c4814e1");
        assertThat(hex(code -> code.interleave512(true, 21, 0, 13))).isEqualTo("62c17c4815ed");
        assertThat(hex(code -> code.shuffle512(1, 4, 6, 0x44))).isEqualTo("62f15c48c6ce44");
        assertThat(hex(code -> code.quarters512(27, 18, 0xB1))).isEqualTo("62236d4023dab1");
    }

    @Test
    void storesPastTheCaches() {
        assertThat(hex(code -> code.storeStream256(Memory.at(Assembler.R10, 32), 9)))
                .isEqualTo("c4417c2b4a20");
        assertThat(hex(code -> code.storeStream512(new Memory(Assembler.R8, Assembler.R9, 1, 0), 17)))
                .isEqualTo("62817c482b0c08");
        assertThat(hex(code -> code.prefetch(new Memory(Assembler.R11, Assembler.R9, 1, 0))))
                .isEqualTo("430f180c0b");
        assertThat(hex(code -> code.prefetch(Memory.at(Assembler.RSI, 64)))).isEqualTo("0f184e40");
        assertThat(hex(VectorAssembler::storeFence)).isEqualTo("0faef8");
    }

    @Test
    void rootsAndScales() {
        assertThat(hex(code -> code.squareRoot256(9, 9))).isEqualTo("c4417c51c9");
        assertThat(hex(code -> code.squareRoot512(19, 9))).isEqualTo("62c17c4851d9");
        assertThat(hex(code -> code.round512(5, 15))).isEqualTo("62d37d4808ef00");
        assertThat(hex(code -> code.scale512(0, 3, 25))).isEqualTo("629265482cc1");
    }
}
