// LocalClock: the time by which ages on this machine are measured. Nobody sets the clock of the boot, and all processes of a boot read
// the same time from it; the wall clock says what is shown to people.

export interface LocalClock {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Milliseconds by the clock of the boot, which never goes back. It means nothing after the next boot. */
  bootMs(): number;
}

export const LOCAL_CLOCK: LocalClock = {
  nowMs: () => Date.now(),
  bootMs: () => Number(process.hrtime.bigint() / 1_000_000n),
};

/** A time by the clock of one boot, as it stands in files. */
export interface BootTime {
  readonly bootId: string | null;
  readonly ms: number;
}

/** Returns the time in a parsed file; undefined if it is none. */
export function bootTimeIn(value: unknown): BootTime | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { bootId, ms } = value as Readonly<Record<string, unknown>>;
  if (bootId !== null && typeof bootId !== 'string') return undefined;
  return typeof ms === 'number' && Number.isFinite(ms) ? { bootId, ms } : undefined;
}
