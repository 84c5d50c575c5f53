// UpgradeSettings: what a service in standby checks of the journal that it is about to take over, what a node checks of the version
// that other nodes run, and which differences are meant.
import { ALLOWABLE_NAMES } from '../history/upgrade-finding.ts';
import { invalidSetting } from '@svc/kit/settings-reader';

export interface UpgradeSettings {
  /** Whether a module in standby that has not written the journal before is compared with what the journal holds, as `svc upgrade-check` does, and a node with the version that other nodes run, as `svc upgrade-check --rolling` does. A program is compared by its event types alone. */
  readonly check: boolean;
  /** Findings that are meant, as for `svc upgrade-check --allow`: `NAME`, or `NAME:COMPONENT`. */
  readonly allow: readonly string[];
  /** Number of threads that compare. */
  readonly threads: number;
}

export const UPGRADE_DEFAULT: UpgradeSettings = { check: true, allow: [], threads: 1 };

/** Minimum and maximum of each number, and of the number of entries of each list. */
export const UPGRADE_RANGE: Readonly<
  Record<Exclude<keyof UpgradeSettings, 'check'>, readonly [number, number]>
> = {
  allow: [0, 1_000],
  threads: [1, 64],
};

/** Throws SVC_SETTING_INVALID for a finding that cannot be allowed. */
export function checkUpgradeSettings({ allow }: UpgradeSettings): void {
  for (const word of allow)
    if (!ALLOWABLE_NAMES.some((name) => name === word.split(':', 1)[0]))
      throw invalidSetting(
        'svc.upgrade.allow',
        word,
        'findings of svc upgrade-check, such as state-differs:cart',
      );
}

const UNREAD = 'manifest-unread';

/**
 * Returns the components whose events in the journal are ignored if no component reads them: those that the operator names, and
 * those for which the finding `manifest-unread` is allowed. Undefined: all components.
 */
export function ignoredComponents(
  named: readonly string[],
  { allow }: UpgradeSettings,
): readonly string[] | undefined {
  if (allow.includes(UNREAD)) return undefined;
  const prefix = `${UNREAD}:`;
  const allowed = allow.filter((word) => word.startsWith(prefix));
  return [...named, ...allowed.map((word) => word.slice(prefix.length))];
}
