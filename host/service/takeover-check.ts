// TakeoverCheck checks, before a service takes a data folder over from another process, whether it can continue with the
// journal. The journal is only read, and the other process may write meanwhile: what it stores later is checked when the
// journal is opened.
import { type GuestSource, type HostingSettings, sourceWord } from '../hosting/guest-source.ts';
import { type JournalLocation, locationName } from '../storage/journal-location.ts';
import { journalExists, lastWriter, storedTypes } from '../storage/journal-preview.ts';
import type { JournalUser } from './journal-opening.ts';
import { refusedFindings, upgradeUnsafe } from './refused-findings.ts';
import { checkEventTypes, type UnknownTypesWords } from './unknown-event-types.ts';
import { ignoredComponents, type UpgradeSettings } from './upgrade-settings.ts';

export interface Takeover {
  readonly location: JournalLocation;
  /** Components that were dropped on purpose. */
  readonly ignoreComponents: readonly string[];
  readonly upgrade: UpgradeSettings;
  readonly words?: UnknownTypesWords | undefined;
}

/** Checks the event types. Rejects with SVC_MANIFEST_UNREADABLE, SVC_JOURNAL_… and SVC_DATA_UNUSABLE. */
export async function checkStoredTypes(
  { descriptor }: JournalUser,
  { location, ignoreComponents, upgrade, words }: Takeover,
): Promise<void> {
  const ignored = ignoredComponents(ignoreComponents, upgrade);
  if (ignored !== undefined && (await journalExists(location)))
    await checkEventTypes(storedTypes(location), descriptor, ignored, words);
}

/**
 * Checks a module: its event types and, unless it was the last one that wrote or the settings say otherwise, all that
 * `svc upgrade-check` checks. `before`: loads the module that runs now, if the settings name it. Rejects as `checkStoredTypes`
 * does, and with SVC_UPGRADE_UNSAFE, with errors of `before`, and with the reason of the signal.
 */
export async function checkTakeover(
  now: GuestSource,
  takeover: Takeover,
  {
    settings,
    before,
    signal,
  }: {
    readonly settings: HostingSettings;
    readonly before: (() => Promise<GuestSource>) | undefined;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { location, ignoreComponents, upgrade } = takeover;
  await checkStoredTypes(now, takeover);
  if (!upgrade.check || !(await journalExists(location))) return;
  if ((await lastWriter(location)).fingerprint === now.fingerprint) return;
  const { checkUpgrade } = await import('../history/upgrade-check.ts');
  const { findings } = await checkUpgrade({
    location,
    now,
    before: await before?.(),
    settings,
    threads: upgrade.threads,
    signal,
  });
  const refused = refusedFindings(findings, { ignoreComponents, upgrade });
  if (refused.length === 0) return;
  const code = sourceWord(now.kind);
  throw upgradeUnsafe(
    `This ${code} cannot take over what ${locationName(location)} holds`,
    refused,
    `Fix the ${code}`,
  );
}
