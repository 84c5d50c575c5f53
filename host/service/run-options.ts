// RunOptions: what a service that runs code is given: its settings, and more beside them.
import type { Log } from '@svc/kit/log';
import type { ServiceStatus } from '@svc/kit/service-status';
import type { SvcError } from '@svc/kit/svc-error';
import type { SettingsSections } from './section-settings.ts';
import type { ServedCode } from './service-code.ts';
import type { ServiceLoop } from './service-dev-loop.ts';
import type { Settings } from './settings.ts';

export type RunnableSettings = Settings<SettingsSections> & { readonly code: ServedCode };

export interface RunOptions {
  readonly log: Log;
  /** The environment of every thread. */
  readonly env: Readonly<Record<string, string>>;
  /** Resolves with the reason when the service is to stop. */
  readonly stopRequested: Promise<string>;
  /** The loop of `svc dev`, and the module that it serves first. */
  readonly loop?: ServiceLoop;
  /** Receives how far the service is. */
  readonly status?: ServiceStatus;
  /** Ends the process at once: called if a service in standby is too late, and cannot be stopped. */
  readonly endAtOnce?: (reason: SvcError) => void;
}
