// RefusedFindings are the differences to another version that keep a service from starting: those that its settings do not allow.
import { type Finding, isAllowed } from '../history/upgrade-finding.ts';
import { printable } from '@svc/kit/printable';
import { SvcError } from '@svc/kit/svc-error';
import type { UpgradeSettings } from './upgrade-settings.ts';

/** Maximum number of findings that the error message has. */
const NAMED_MAX = 10;

export interface FindingRules {
  /** Components that were dropped on purpose. */
  readonly ignoreComponents: readonly string[];
  readonly upgrade: Pick<UpgradeSettings, 'allow'>;
}

/** Returns the findings that are not allowed. */
export function refusedFindings(
  findings: readonly Finding[],
  { ignoreComponents, upgrade }: FindingRules,
): readonly Finding[] {
  return findings.filter(
    (finding) =>
      !ignoreComponents.includes(finding.component) &&
      !upgrade.allow.some((word) => isAllowed(word, finding)),
  );
}

/**
 * Returns the error of findings that are not allowed. `problem`: what the service cannot do, as a sentence without its full stop.
 * `remedy`: what to do about it, in the same form.
 */
export function upgradeUnsafe(
  problem: string,
  findings: readonly Finding[],
  remedy: string,
): SvcError {
  const named = findings
    .slice(0, NAMED_MAX)
    .map(
      ({ name, component, message }) => `${name} (${printable(component)}): ${printable(message)}`,
    );
  const more = findings.length > NAMED_MAX ? `; and ${findings.length - NAMED_MAX} more` : '';
  return new SvcError(
    'SVC_UPGRADE_UNSAFE',
    `${problem}: ${named.join('; ')}${more}. ${remedy}, or accept findings that are meant with allow in its descriptor, or ` +
      'svc.upgrade.allow.',
  );
}
