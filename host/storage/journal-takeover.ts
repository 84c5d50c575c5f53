// JournalTakeover and JournalStandby are how a process opens a journal that another process has open, once that process has
// ended. What has to be ready for this is started before.

/** How the journal is waited for. */
export interface JournalTakeover {
  /** Pause between two tries to get the journal, in milliseconds. */
  readonly tryIntervalMs: number;
  /** Fingerprint of the module that is going to use the journal. */
  readonly fingerprint: string;
  /** Ends the wait, which then rejects with the reason of the signal. */
  readonly signal: AbortSignal;
  /** Called once no other process can open the journal. */
  readonly onLocked: () => void;
}

export interface JournalStandby<Opened> {
  /**
   * Opens the journal once no other process has it open. Call it once. Rejects as opening it at once does, except that it waits
   * instead of SVC_DATA_IN_USE.
   */
  open(takeover: JournalTakeover): Promise<Opened>;
  /** Ends what was started, unless the journal has been opened, which is closed by itself. */
  close(): Promise<void>;
}
