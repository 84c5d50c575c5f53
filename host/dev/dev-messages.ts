// Messages between `svc dev` and the process in which it runs the service.
import type { DevProblem, SourceLocation } from '@svc/contract';
import type { HostingSettings, SourceFile } from '../hosting/guest-source.ts';
import type { WasmFrame } from '@svc/model/guest-fault';
import type { SvcErrorCode } from '@svc/kit/svc-error';
import type { FaultEntry } from '@svc/model/fault-entry';

export type ToDevHost =
  /** Sources have changed, and are being compiled. */
  | { readonly kind: 'building' }
  | { readonly kind: 'build-failed'; readonly problems: readonly DevProblem[] }
  /** The source location at which the module of the file failed to start, and the text of that line. */
  | {
      readonly kind: 'refused-at';
      readonly file: string;
      readonly location: SourceLocation;
      readonly source: string | null;
    }
  /**
   * Asks for the module to be served. `builtMs`: duration of the build in milliseconds. `builtAtMs`: end of the build
   * in milliseconds since 1970, with fractions.
   */
  | {
      readonly kind: 'module';
      readonly file: string;
      readonly builtMs: number;
      readonly builtAtMs: number;
    };

export type FromDevHost =
  | {
      readonly kind: 'served';
      readonly source: SourceFile & { readonly file: string };
      readonly settings: HostingSettings;
      /** `http://127.0.0.1:9000`; undefined if the service has no HTTP server. */
      readonly url: string | undefined;
      /** The data folder, absolute; undefined: the journal is in a database. */
      readonly dataFolder: string | undefined;
      /** Where the journal is, for a person. */
      readonly journal: string;
      /** Time from the end of the build until the module was served, in milliseconds. */
      readonly afterMs: number;
      /** False if a newer build has been reported since. */
      readonly isNewest: boolean;
    }
  /**
   * The module was refused. The previous one keeps serving, if there is one and the start of this one is not retried.
   */
  | {
      readonly kind: 'refused';
      readonly file: string;
      readonly code: SvcErrorCode;
      readonly message: string;
      /** Code positions of the fault; undefined unless the module failed to start. */
      readonly frames: readonly WasmFrame[] | undefined;
      /** Settings that the module ran under. */
      readonly settings: HostingSettings;
      /** Whether the previous module has stopped, so that the start of this one is retried until it serves. */
      readonly isRetried: boolean;
    }
  /** Findings of the check of stored events against the module that is served, a sentence each. */
  | { readonly kind: 'upgrade'; readonly findings: readonly string[] }
  | { readonly kind: 'log'; readonly entry: FaultEntry }
  /** The service cannot be served at all, and the process ends. */
  | { readonly kind: 'failed'; readonly code: SvcErrorCode; readonly message: string };
