// A surface is what a service shows of itself beside its routes: a deployed instance its management server
// (deployed-surface.ts), any other its observability endpoint (local-surface.ts). It runs on the main thread, which runs
// nothing of a module, so it answers whatever a guest does.
import type { DevState, ModuleDescriptor, SourcePlace } from '@svc/contract';
import type { AdmittedModule } from '../hosting/wasm/admission/admission.ts';
import type { Log } from '../log/log.ts';
import type { FaultySpan } from './placed-faults.ts';
import type { MetricsSource } from './metrics-source.ts';
import type { RoomSettings } from '../service/section-settings.ts';
import type { Settings } from '../service/settings.ts';
import type { Supervisor } from '../shards/supervisor.ts';

export interface Surface {
  /** Before the module is looked at. A surface without which the service must not run rejects with SvcError. */
  open(): Promise<void>;
  /** All shards serve. Never rejects. */
  served(service: ServedService): Promise<void>;
  /** Another module is served in the place of the one before, while a developer works on it. */
  replaced?(by: ReplacingModule): void;
  /** Where in the sources a fault was that the module has just met. Never rejects; none: it is not known. */
  placesOf?(span: FaultySpan): Promise<readonly SourcePlace[]>;
  /** The service is about to stop. */
  stopping(): void;
  /** No request is in flight any more, and shards can be asked for the last time. Never rejects. */
  finished?(): Promise<void>;
  /** The service has stopped, or was never served. Never rejects. */
  close(): Promise<void>;
}

export interface ServedService {
  /** `http://127.0.0.1:9000`; undefined: it has no HTTP server. */
  readonly url: string | undefined;
  readonly descriptor: ModuleDescriptor;
}

export interface ReplacingModule {
  readonly file: string;
  readonly module: AdmittedModule;
}

/** What a surface looks at. */
export interface ShownService {
  readonly settings: Settings<RoomSettings>;
  readonly supervisor: Supervisor;
  readonly metrics: MetricsSource;
  readonly module: Promise<AdmittedModule>;
  /** Once it is open; it may never be. `failure`: resolves when it can store nothing any more. */
  readonly journal: Promise<{ readonly failure: Promise<unknown> }>;
  /** All that a thread has for an environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
  /** What `svc dev` says of its builds; left out: it does not run the service. */
  readonly dev?: () => DevState;
}
