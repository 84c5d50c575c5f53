// What `svc dev` and the process in which it has the service run say to each other.
import type { DevProblem, SourcePlace } from '@svc/contract';
import type { HostingSettings, SourceFile } from '../hosting/guest-source.ts';
import type { WasmFrame } from '../model/guest-fault.ts';
import type { SvcErrorCode } from '@svc/kit/svc-error';
import type { FaultEntry } from '../model/fault-entry.ts';

export type ToDevHost =
  /** Something has changed, and is being compiled. */
  | { readonly kind: 'building' }
  | { readonly kind: 'build-failed'; readonly problems: readonly DevProblem[] }
  /** Where in its sources the module of the file was when it failed at its start, and that line. */
  | {
      readonly kind: 'refused-at';
      readonly file: string;
      readonly place: SourcePlace;
      readonly source: string | null;
    }
  /** To be served from now on. `builtAtMs`: when it was compiled, in milliseconds since 1970 with fractions. */
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
      /** `http://127.0.0.1:9000`; undefined: it has no HTTP server. */
      readonly url: string | undefined;
      readonly dataFolder: string;
      /** From the end of the compiling on. */
      readonly afterMs: number;
      /** False: something else is told by now of what was built after it. */
      readonly isNews: boolean;
    }
  /** The module is not served; the one before it goes on, if there is one and this one is not tried again. */
  | {
      readonly kind: 'refused';
      readonly file: string;
      readonly code: SvcErrorCode;
      readonly message: string;
      /** Where it failed at its start, if it did, and under which settings. */
      readonly frames: readonly WasmFrame[] | undefined;
      readonly settings: HostingSettings;
      readonly isTriedAgain: boolean;
    }
  /** What stored events say to the module that is served, a sentence each. */
  | { readonly kind: 'upgrade'; readonly findings: readonly string[] }
  | { readonly kind: 'log'; readonly entry: FaultEntry }
  /** The service cannot be served at all, and the process ends. */
  | { readonly kind: 'failed'; readonly code: SvcErrorCode; readonly message: string };
