// StandbySettings: how a service waits for a data folder that another process uses.

export interface StandbySettings {
  /** Pause between two tries to lock the data folder, in milliseconds. */
  readonly tryIntervalMs: number;
  /** How long the service may take from the lock until it serves, in milliseconds; it ends beyond, so that another process can have the folder. */
  readonly readyWithinMs: number;
}

export const STANDBY_DEFAULT: StandbySettings = { tryIntervalMs: 3, readyWithinMs: 10_000 };

const DURATION_MS_MAX = 1_000_000_000;

/** Minimum and maximum of each setting. */
export const STANDBY_RANGE: Readonly<Record<keyof StandbySettings, readonly [number, number]>> = {
  tryIntervalMs: [1, 60_000],
  readyWithinMs: [1, DURATION_MS_MAX],
};
