// JournalOpening opens a journal for the components that are about to be served, those of a module
// or of a program. Invariant: if the journal has events that no component reads and that are not ignored, it is closed
// again and stays unchanged.
import type { WallClock } from '../engine/needs/clock.ts';
import type { SourceDescription } from '../hosting/guest-source.ts';
import type { JournalLocation } from '../storage/journal-location.ts';
import { openJournal, type OpenedJournal, type WriterSettings } from '../storage/opened-journal.ts';
import { systemClock } from '../system.ts';
import { beginConsumers } from './consumer-beginnings.ts';
import { rollingCheck } from './rolling-check.ts';
import { serviceSchedules } from './service-schedules.ts';
import { checkEventTypes, type UnknownTypesWords } from './unknown-event-types.ts';
import type { UpgradeSettings } from './upgrade-settings.ts';

export interface JournalOpening extends Omit<
  WriterSettings,
  'fingerprint' | 'isExclusive' | 'admit'
> {
  /** Default: true. */
  readonly isExclusive?: boolean;
  readonly location: JournalLocation;
  /** How the components are compared with others that run at the same time; absent: they do not run beside others. */
  readonly upgrade?: UpgradeSettings | undefined;
  /**
   * Components that were dropped on purpose, whose events are ignored. Undefined: all unknown components, as in
   * `svc dev`, which reports unknown event types itself.
   */
  readonly ignoreComponents: readonly string[] | undefined;
  /** Opens the journal for a user with this fingerprint; default: at once, and rejects if another process has it open. */
  readonly open?: ((fingerprint: string) => Promise<OpenedJournal>) | undefined;
  /** Default: the machine's. */
  readonly clock?: WallClock | undefined;
  /** Texts for the error message; default: those for `svc run`. */
  readonly words?: UnknownTypesWords;
}

/** Identity and descriptor of the components, which the journal records. */
export type JournalUser = Pick<SourceDescription, 'fingerprint' | 'descriptor'>;

/**
 * Opens the journal, records its user, makes its schedules those of the service, and notes where its new consumers begin. Rejects with SVC_DATA_…,
 * SVC_DISK_FULL, SVC_JOURNAL_…, SVC_TIMER…, SVC_MANIFEST_UNREADABLE and SVC_UPGRADE_UNSAFE.
 */
export async function openJournalFor(
  user: JournalUser,
  {
    location,
    limits,
    timerLimits,
    series,
    warn,
    open,
    isExclusive = true,
    upgrade,
    ignoreComponents,
    words,
    clock = systemClock,
  }: JournalOpening,
): Promise<OpenedJournal> {
  const { fingerprint, descriptor } = user;
  const journal = await (open?.(fingerprint) ??
    openJournal(location, {
      fingerprint,
      isExclusive,
      admit: upgrade && rollingCheck(user, { location, upgrade, ignoreComponents }),
      limits,
      timerLimits,
      series,
      ...(warn && { warn }),
    }));
  try {
    if (ignoreComponents !== undefined)
      await checkEventTypes(journal, descriptor, ignoreComponents, words);
    const timeMs = clock.nowMs();
    journal.noteModule({ fingerprint, descriptor: JSON.stringify(descriptor), timeMs });
    await journal.reconcileSchedules(serviceSchedules(descriptor), timeMs);
    await beginConsumers(journal, descriptor.consumers);
    return journal;
  } catch (error) {
    await journal.close();
    throw error;
  }
}
