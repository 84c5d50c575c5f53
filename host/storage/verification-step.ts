// VerificationStep is what the verification of a journal reports, step by step.
import type { ScanPosition } from './journal-scan.ts';

/** Damage that the verification has found. */
export interface JournalFinding {
  readonly kind: 'finding';
  readonly component?: string | undefined;
  readonly id?: string | undefined;
  readonly seq?: number | undefined;
  readonly pos?: ScanPosition | undefined;
  readonly problem: string;
}

export interface VerificationProgress {
  readonly kind: 'progress';
  /** The unit of the numbers, in the plural, as in "12 of 34 records". */
  readonly what: string;
  readonly done: number;
  /** Undefined: the total is not known. */
  readonly total?: number;
}

export interface VerificationResult {
  readonly kind: 'result';
  readonly records: number;
  readonly entities: number;
  readonly answers: number;
  readonly findings: number;
  /** Whether SQLite's own check was made; undefined: the journal is not in a file of SQLite. */
  readonly structureChecked: boolean | undefined;
}

export type VerificationStep = JournalFinding | VerificationProgress;
