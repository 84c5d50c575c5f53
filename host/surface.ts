// A surface is what a service shows of itself beside its routes: a deployed instance its management server
// (deployed-surface.ts), any other its observability endpoint (local-surface.ts). It runs on the main thread, which runs
// nothing of a module, so it answers whatever a guest does.
import type { ModuleDescriptor } from '@svc/contract';
import type { AdmittedModule } from './hosting/wasm/admission.ts';
import type { Log } from './log.ts';
import type { RoomSettings } from './room-settings.ts';
import type { Settings } from './settings.ts';
import type { Supervisor } from './supervisor.ts';

export interface Surface {
  /** Before the module is looked at. A surface without which the service must not run rejects with SvcError. */
  open(): Promise<void>;
  /** All shards serve. Never rejects. */
  served(service: ServedService): Promise<void>;
  /** The service is about to stop. */
  stopping(): void;
  /** The service has stopped, or was never served. Never rejects. */
  close(): Promise<void>;
}

export interface ServedService {
  /** `http://127.0.0.1:9000`; undefined: it has no HTTP server. */
  readonly url: string | undefined;
  readonly descriptor: ModuleDescriptor;
}

/** What a surface looks at. */
export interface ShownService {
  readonly settings: Settings<RoomSettings>;
  readonly supervisor: Supervisor;
  readonly module: Promise<AdmittedModule>;
  /** All that a thread has for an environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
}
