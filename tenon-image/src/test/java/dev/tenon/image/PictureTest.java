package dev.tenon.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tenon.core.error.DataException;
import dev.tenon.core.error.InputException;
import dev.tenon.core.error.TenonException;
import dev.tenon.core.error.UnsupportedException;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PictureTest {
    @TempDir
    private Path folder;

    private static byte[] encoded(BufferedImage image, String format) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        assertThat(ImageIO.write(image, format, out)).isTrue();
        return out.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(strings = {"png", "bmp"})
    void fileKeepsItsPixels(String format) throws IOException {
        Picture picture = ResamplingTest.noise(7, 5);
        Path file = folder.resolve("picture." + format);
        Files.write(file, encoded(picture.toImage(), format));
        Picture read = Picture.read(file);
        assertThat(read.width()).isEqualTo(7);
        assertThat(read.pixels()).isEqualTo(picture.pixels());
    }

    @Test
    void grayStaysAsBright() throws IOException {
        BufferedImage image = new BufferedImage(256, 1, BufferedImage.TYPE_BYTE_GRAY);
        for (int x = 0; x < 256; x++) {
            image.getRaster().setSample(x, 0, 0, x);
        }
        Picture picture = Picture.decode(encoded(image, "png"), "gray");
        for (int x = 0; x < 256; x++) {
            assertThat(picture.at(x, 0, 0)).isEqualTo(x);
            assertThat(picture.at(x, 0, 2)).isEqualTo(x);
        }
    }

    @Test
    void transparencyIsDropped() throws IOException {
        BufferedImage image = new BufferedImage(2, 1, BufferedImage.TYPE_INT_ARGB);
        image.setRGB(0, 0, 0x00102030);
        image.setRGB(1, 0, 0x80405060);
        Picture picture = Picture.decode(encoded(image, "png"), "clear");
        assertThat(picture.pixels()).containsExactly(0x10, 0x20, 0x30, 0x40, 0x50, 0x60);
    }

    /** Where the top left pixel of the file is shown, by EXIF. */
    @ParameterizedTest
    @CsvSource({"1, 0, 0", "2, 23, 0", "3, 23, 15", "4, 0, 15", "5, 0, 0", "6, 15, 0", "7, 15, 23", "8, 0, 23"})
    void orientationTurnsThePicture(int orientation, int x, int y) throws IOException {
        BufferedImage image = new BufferedImage(24, 16, BufferedImage.TYPE_INT_RGB);
        for (int i = 0; i < 64; i++) {
            image.setRGB(i % 8, i / 8, 0xFFFFFF);
        }
        byte[] file = encoded(image, "jpg");
        for (ByteOrder order : new ByteOrder[] {ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN}) {
            Picture picture = Picture.decode(withExif(file, orientation, order), "turned");
            assertThat(picture.width()).isEqualTo(orientation >= 5 ? 16 : 24);
            assertThat(picture.at(x, y, 0)).isGreaterThan(200);
            int far = picture.at(picture.width() - 1 - x, picture.height() - 1 - y, 0);
            assertThat(far).isLessThan(50);
        }
    }

    private static byte[] withExif(byte[] jpeg, int orientation, ByteOrder order) {
        ByteBuffer tiff = ByteBuffer.allocate(26).order(order);
        tiff.putShort((short) (order == ByteOrder.LITTLE_ENDIAN ? 0x4949 : 0x4D4D));
        tiff.putShort((short) 42).putInt(8).putShort((short) 1);
        tiff.putShort((short) 0x0112).putShort((short) 3).putInt(1).putShort((short) orientation);
        ByteBuffer all = ByteBuffer.allocate(jpeg.length + 36);
        all.put(jpeg, 0, 2).putShort((short) 0xFFE1).putShort((short) 34);
        all.put(new byte[] {'E', 'x', 'i', 'f', 0, 0}).put(tiff.array());
        return all.put(jpeg, 2, jpeg.length - 2).array();
    }

    @Test
    void cropOutsideIsBlack() {
        Picture picture = ResamplingTest.noise(4, 3);
        Picture part = picture.crop(-1, 1, 6, 3);
        assertThat(part.at(0, 0, 0)).isZero();
        assertThat(part.at(1, 0, 1)).isEqualTo(picture.at(0, 1, 1));
        assertThat(part.at(4, 1, 2)).isEqualTo(picture.at(3, 2, 2));
        assertThat(part.at(5, 1, 2)).isZero();
        assertThat(part.at(2, 2, 2)).isZero();
        assertThat(picture.crop(10, 10, 2, 2).pixels()).containsOnly(0);
    }

    @Test
    void whatIsNoPictureIsRefused() {
        assertThatThrownBy(() -> Picture.read(folder.resolve("none.png"))).isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> Picture.decode(new byte[] {1, 2, 3}, "bytes"))
                .isInstanceOf(UnsupportedException.class)
                .hasMessageContaining("bytes is no picture");
        assertThatThrownBy(() -> Picture.of(2, 2, new byte[3])).isInstanceOf(InputException.class);
        assertThatThrownBy(() -> ResamplingTest.noise(2, 2).crop(0, 0, 0, 1)).isInstanceOf(InputException.class);
    }

    @Test
    void damagedFilesAreErrorsOfOneKind() throws IOException {
        Random random = new Random(3);
        for (String format : new String[] {"png", "jpg", "gif", "bmp"}) {
            byte[] file = encoded(ResamplingTest.noise(9, 9).toImage(), format);
            byte[] exif = format.equals("jpg") ? withExif(file, 6, ByteOrder.BIG_ENDIAN) : file;
            for (int i = 0; i < 300; i++) {
                byte[] changed = Arrays.copyOf(exif, i % 3 == 0 ? random.nextInt(exif.length) : exif.length);
                for (int j = 0; j < 3 && changed.length > 0; j++) {
                    changed[random.nextInt(changed.length)] = (byte) random.nextInt();
                }
                try {
                    assertThat(Picture.decode(changed, "changed").width()).isPositive();
                } catch (DataException | UnsupportedException e) {
                    assertThat(e).isInstanceOf(TenonException.class);
                }
            }
        }
    }
}
