// RollingUpgrade compares a new version of a service with those that run on a database, for an update in which nodes are replaced one
// after the other. A node makes the same comparison before it joins.
import { type ModuleDescriptor, parseModuleDescriptor } from '@svc/contract';
import { SvcError } from '@svc/kit/svc-error';
import { type JournalInDatabase, locationName } from '../storage/journal-location.ts';
import { runningModules } from '../storage/journal-preview.ts';
import { rollingDifferences } from './rolling-difference.ts';
import { UpgradeFindings, type Finding } from './upgrade-finding.ts';

export interface RollingAnswer {
  /** Fingerprints of the other versions that run. */
  readonly running: readonly string[];
  readonly findings: readonly Finding[];
}

/**
 * Compares a version with all others that nodes run now. Rejects with SVC_JOURNAL_…, SVC_DATABASE_… and SVC_UPGRADE_UNSAFE if what runs
 * cannot be compared.
 */
export async function checkRollingUpgrade(
  location: JournalInDatabase,
  now: { readonly fingerprint: string; readonly descriptor: ModuleDescriptor },
): Promise<RollingAnswer> {
  const others = (await runningModules(location)).filter(
    ({ fingerprint }) => fingerprint !== now.fingerprint,
  );
  const findings = new UpgradeFindings();
  for (const { descriptor } of others)
    for (const finding of rollingFindings(descriptor, now.descriptor, locationName(location)))
      findings.merge(finding);
  return {
    running: others.map(({ fingerprint }) => fingerprint),
    findings: findings.list(),
  };
}

/**
 * Compares a version with one that runs, whose descriptor is JSON text. `shown`: name of the journal in messages. Throws
 * SVC_UPGRADE_UNSAFE if this version of svc cannot read that descriptor.
 */
export function rollingFindings(
  running: string,
  now: ModuleDescriptor,
  shown: string,
): readonly Finding[] {
  const parsed = parseModuleDescriptor(running);
  if (parsed.ok) return rollingDifferences(parsed.descriptor, now);
  throw new SvcError(
    'SVC_UPGRADE_UNSAFE',
    `The version that uses ${shown} cannot be compared: this svc does not read its descriptor (${parsed.problems[0]}). Use a newer svc, ` +
      'stop all nodes first, or turn the comparison off with svc.upgrade.check=false.',
  );
}
