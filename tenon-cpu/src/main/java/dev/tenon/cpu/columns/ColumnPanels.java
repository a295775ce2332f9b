package dev.tenon.cpu.columns;

import dev.tenon.core.ir.SizeMath;

/**
 * How slabs of rows are cut into units for the workers: panels of columns, and chunks of their rows where there are few
 * panels and these are large. Several short rows are taken as one.
 *
 * @param inner columns of a slab
 * @param size rows of a slab
 * @param columns of a panel, at most
 * @param tiles panels of a slab
 * @param together rows that are taken as one
 * @param chunks of a panel
 * @param units of all slabs
 */
public record ColumnPanels(long inner, long size, int columns, long tiles, int together, int chunks, long units) {
    /** Of a panel that stays in a cache: its share of the last one, where a core's own is too small for it. */
    private static final long CACHED_BYTES = 2 << 20;

    /** Of a slab that is worth several workers. */
    private static final long LARGE_BYTES = 1 << 20;

    /** Columns that are worth a panel of their own: eight lines. */
    private static final long NARROW = 128;

    /** Columns of a panel that is worth a cache where nothing but x is kept: each row of many is a page to look up. */
    private static final long LEAST_CACHED = 256;

    /** Columns of short rows that are taken together: no power of two, for rows so far apart would share places. */
    private static final long WIDE = 496;

    private static final long MOST = 1024;

    /** Elements that are worth a worker's while. */
    private static final long WORTH = 8192;

    private static final int LINE = 16;

    /** Units that are enough: a large panel is cut into as many chunks as make them. */
    private static final int CHUNKS = 32;

    /**
     * For x that is read twice: panels stay in a cache where they can.
     *
     * @param kept whether exponentials of a panel in a cache are kept, so that x is read once
     */
    public static ColumnPanels of(long outer, long size, long inner, boolean kept) {
        long bytes = SizeMath.product("columns", 4, size, inner);
        boolean large = bytes > CACHED_BYTES;
        if (inner < NARROW || (inner <= WIDE / 2 && large)) {
            int together = together(size, inner, bytes > CACHED_BYTES / 4 ? WIDE : LINE);
            return of(outer, size, inner, inner, together, large);
        }
        long cached = CACHED_BYTES / 4 / Math.max(1, size) / LINE * LINE;
        if (cached >= (kept ? NARROW : Math.min(inner, LEAST_CACHED))) {
            return of(outer, size, inner, Math.min(cached, MOST), 1, false);
        }
        return of(outer, size, inner, MOST, 1, large);
    }

    /** For x that is read once. */
    public static ColumnPanels once(long outer, long size, long inner) {
        boolean large = SizeMath.product("columns", 4, size, inner) > LARGE_BYTES;
        return of(outer, size, inner, MOST, inner <= WIDE / 2 ? together(size, inner, large ? WIDE : LINE) : 1, large);
    }

    private static ColumnPanels of(long outer, long size, long inner, long most, int together, boolean large) {
        int columns = (int) Math.min(inner, most);
        long tiles = Math.ceilDiv(inner, most);
        long panels = SizeMath.product("columns", outer, tiles);
        int wanted = Math.clamp(CHUNKS / Math.max(1, panels), 1, CHUNKS);
        int chunks = large && size / ((long) wanted * together) > 0 ? wanted : 1;
        return new ColumnPanels(
                inner, size, columns, tiles, together, chunks, SizeMath.product("columns", panels, chunks));
    }

    /** As many rows as make so many columns, whole vectors where that can be. */
    private static int together(long size, long inner, long columns) {
        long count = Math.clamp(columns / inner, 1, Math.max(1, size));
        int whole = LINE / Math.min(LINE, Integer.lowestOneBit((int) inner));
        return (int) (count >= whole ? count / whole * whole : count);
    }

    /** Units that are worth a worker's while. */
    public long grain() {
        return Math.max(1, WORTH / Math.max(1, size * columns));
    }

    /** Whether a panel stays in a cache of a core. */
    public boolean isCached() {
        return chunks == 1 && 4 * size * columns * together <= CACHED_BYTES;
    }

    /** Columns of a unit. */
    public int columns(long unit) {
        return (int) Math.min(columns, inner - tile(unit) * columns);
    }

    private long tile(long unit) {
        return unit / chunks % tiles;
    }

    /** The first element of a unit. */
    public long first(long unit) {
        return (unit / chunks / tiles * size + chunkRows() * (unit % chunks)) * inner + tile(unit) * columns;
    }

    private long chunkRows() {
        return chunks == 1 ? size : Math.ceilDiv(Math.ceilDiv(size, chunks), together) * together;
    }

    /** Rows of a unit, which may be none. */
    public long rows(long unit) {
        long before = chunkRows() * (unit % chunks);
        return Math.clamp(size - before, 0, chunkRows());
    }
}
