// ModuleStandby is the standby of a service that runs a module (standby.ts).
import type { GuestSource } from '../hosting/guest-source.ts';
import type { SvcError } from '@svc/kit/svc-error';
import type { JournalSeries } from '../storage/journal-series.ts';
import { journalAt } from '../storage/journal-location.ts';
import { standByJournal } from '../storage/opened-journal.ts';
import { readModule } from './module-source.ts';
import type { SettingsSections } from './section-settings.ts';
import type { RunOptions } from './run-options.ts';
import { shardCount } from '../shards/shard-count.ts';
import type { Settings } from './settings.ts';
import { Standby } from './standby.ts';
import { checkTakeover } from './takeover-check.ts';

export interface ModuleStandbyOptions {
  readonly source: Promise<GuestSource>;
  /** Receives the counts of the journal's writer. */
  readonly series: JournalSeries;
  /** Ends the check and the wait for the data folder. */
  readonly signal: AbortSignal;
  /** Called if the service does not serve in time. */
  readonly onLate: (error: SvcError) => void;
}

/** Returns undefined unless the settings ask for a standby. */
export function moduleStandby(
  settings: Settings<SettingsSections>,
  { env, log, status, endAtOnce }: RunOptions,
  { source, series, signal, onLate }: ModuleStandbyOptions,
): Standby | undefined {
  if (!settings.standby) return undefined;
  const { dataFolder, database, ignoreComponents, upgradeFrom, http, port, sections } = settings;
  const { journal, timers, standby, upgrade, supervisor, wasm } = sections;
  const location = journalAt(dataFolder, database);
  return new Standby({
    settings: standby,
    // With port 0 the other shards are started when the first one has its port.
    shards: http && port === 0 ? 1 : shardCount(settings.shards, process.platform, () => {}),
    openJournal: () =>
      standByJournal(location, {
        limits: journal,
        timerLimits: timers,
        series,
        warn: (message) => log({ level: 'warn', message }),
      }),
    check: async () =>
      checkTakeover(
        await source,
        { location, ignoreComponents, upgrade },
        {
          settings: { wasm },
          before:
            upgradeFrom === undefined
              ? undefined
              : () => readModule(upgradeFrom, { wasm }, { env, signal }),
          signal,
        },
      ),
    signal,
    onPrepared: () => status?.enter('prepared'),
    onLate: (error) => {
      onLate(error);
      // A thread that hangs must not keep the folder locked.
      setTimeout(() => endAtOnce?.(error), supervisor.stopMarginMs).unref();
    },
  });
}
