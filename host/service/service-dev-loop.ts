// ServiceDevLoop joins the loop of `svc dev` to the service that it replaces the modules of.
import type { ModuleDescriptor } from '@svc/contract';
import type { BuiltModule, DevLoop } from '../dev/dev-loop.ts';
import type { GuestSource, HostingSettings } from '../hosting/guest-source.ts';
import type { Log } from '@svc/kit/log';
import type { Supervisor } from '../shards/supervisor.ts';
import type { OpenedJournal } from '../storage/opened-journal.ts';
import { systemClock } from '../system.ts';
import { beginConsumers } from './consumer-beginnings.ts';
import { moduleReader } from './module-source.ts';
import type { ServiceConfiguration } from './service-configuration.ts';
import { serviceSchedules } from './service-schedules.ts';

/** The loop, and the module that the service serves first. */
export interface ServiceLoop {
  readonly dev: DevLoop;
  readonly built: BuiltModule;
}

/** The service as its loop uses it. */
interface LoopedService {
  readonly url: string | undefined;
  /** The module that is served first. */
  readonly source: GuestSource;
  readonly settings: HostingSettings;
  /** Throws for a module that the settings do not fit. */
  readonly check: (descriptor: ModuleDescriptor) => void;
  readonly env: Readonly<Record<string, string>>;
  readonly supervisor: Supervisor;
  readonly journal: OpenedJournal;
  readonly configuration: ServiceConfiguration;
  readonly log: Log;
  /** Called when a module has replaced the one that was served. */
  readonly replaced: (by: GuestSource) => void;
}

/** Begins the loop. From now on it replaces the module that the service serves. */
export async function startDevLoop(
  { dev, built }: ServiceLoop,
  {
    url,
    source,
    settings,
    check,
    env,
    supervisor,
    journal,
    configuration,
    log,
    replaced,
  }: LoopedService,
): Promise<void> {
  const { ModuleSwap } = await import('../dev/module-swap.ts');
  const swap = new ModuleSwap({
    file: built.file,
    supervisor,
    journal,
    newReader: () => moduleReader(settings, env),
    begins: async (module) => {
      check(module.descriptor);
      await configuration.prepare(module);
      await beginConsumers(journal, module.descriptor.consumers);
    },
    replaced: (by) => {
      void reconcileSchedules(journal, by, log);
      replaced(by);
    },
  });
  dev.begin({ url, source, settings, swap }, built);
}

async function reconcileSchedules(
  journal: OpenedJournal,
  { descriptor }: GuestSource,
  log: Log,
): Promise<void> {
  try {
    await journal.reconcileSchedules(serviceSchedules(descriptor), systemClock.nowMs());
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = 'the schedules of the service are not those of its module';
    log({ level: 'error', message, fields: { reason } });
  }
}
