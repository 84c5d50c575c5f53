// ModuleWork is what a module is given to do beside requests: firings of due timers, and events for its consumers. It begins when all
// shards can execute it.
import type { ModuleDescriptor } from '@svc/contract';
import type { Log } from '@svc/kit/log';
import type { Supervisor } from '../shards/supervisor.ts';
import type { OpenedJournal } from '../storage/opened-journal.ts';
import { ConsumerDispatch } from './consumer-dispatch.ts';
import type { RunOptions } from './run-options.ts';
import type { SettingsSections } from './section-settings.ts';
import type { Settings } from './settings.ts';
import { TimerDispatch } from './timer-dispatch.ts';

export interface WorkingService {
  readonly settings: Settings<SettingsSections>;
  readonly env: RunOptions['env'];
  readonly log: Log;
  /** Executes the work. */
  readonly supervisor: Supervisor;
}

export class ModuleWork {
  readonly timers: TimerDispatch;
  readonly consumers: ConsumerDispatch;

  constructor({ settings, env, log, supervisor }: WorkingService) {
    const { timers, consumers, log: logLimits } = settings.sections;
    const own = { shards: supervisor.count, env, log };
    this.timers = new TimerDispatch({
      ...own,
      settings: timers,
      relink: () => supervisor.linkWork('firings'),
    });
    this.consumers = new ConsumerDispatch({
      ...own,
      settings: consumers,
      logLimits,
      relink: () => supervisor.linkWork('deliveries'),
    });
  }

  /** All shards can execute what comes now. */
  begin(journal: OpenedJournal, { consumers }: Pick<ModuleDescriptor, 'consumers'>): void {
    this.timers.begin(journal);
    this.consumers.begin(journal, consumers);
  }
}
