// RollingCheck compares the code of a node with the one that other nodes run, before it joins them: for a while both store events, and
// call each other's entities. It compares declarations alone, and reads nothing of the journal.
import type { ModuleDescriptor } from '@svc/contract';
import { rollingFindings } from '../history/rolling-upgrade.ts';
import type { RunningModule } from '../storage/cluster-nodes.ts';
import { type JournalLocation, locationName } from '../storage/journal-location.ts';
import { refusedFindings, upgradeUnsafe } from './refused-findings.ts';
import type { UpgradeSettings } from './upgrade-settings.ts';

export interface RollingRules {
  readonly location: JournalLocation;
  readonly upgrade: UpgradeSettings;
  /** Components that were dropped on purpose; undefined: all. */
  readonly ignoreComponents: readonly string[] | undefined;
}

/**
 * Returns a function that compares a module that runs with `now`. It throws SVC_UPGRADE_UNSAFE if one does not understand what the
 * other one stores or sends, unless the settings allow that, or ask for no check.
 */
export function rollingCheck(
  now: { readonly descriptor: ModuleDescriptor },
  { location, upgrade, ignoreComponents = [] }: RollingRules,
): (running: RunningModule) => void {
  return ({ descriptor }) => {
    if (!upgrade.check) return;
    const findings = rollingFindings(descriptor, now.descriptor, locationName(location));
    const refused = refusedFindings(findings, { ignoreComponents, upgrade });
    if (refused.length > 0)
      throw upgradeUnsafe(
        `This version cannot run beside the one that uses ${locationName(location)}`,
        refused,
        'Change the service in several steps, stop all nodes before this one starts',
      );
  };
}
