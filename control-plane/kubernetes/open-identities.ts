// OpenIdentities: the certificates that the control plane makes for the services of a cluster and for its gateway, with the authority that issues them.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Clock } from '@svc/kit/clock';
import type { Log } from '@svc/kit/log';
import { Authority } from '../authorities/authority.ts';
import { carryOut, fileSteps } from '../authorities/file-steps.ts';
import { GivenAuthority } from '../authorities/given-authority.ts';
import type { IdentityAuthority } from '../authorities/identity-authority.ts';
import { FaultLog } from '../orchestration/fault-log.ts';
import type { KubeClient } from './api/kube-client.ts';
import { GatewayIdentity } from './gateway-identity.ts';
import type { AuthorityChoice } from './certificate-settings.ts';
import { IdentitySecrets } from './identity-secrets.ts';
import type { KubernetesSection } from './kubernetes-section.ts';
import type { KubernetesInstallation } from './manifests/installation.ts';
import { platformIdentitySecret } from './manifests/identity-secret.ts';

export interface IdentitiesOptions {
  /** Stays the caller's. */
  readonly client: KubeClient;
  readonly installation: Pick<KubernetesInstallation, 'namespace' | 'trustDomain' | 'gatewayId'>;
  readonly authority: AuthorityChoice;
  /** Name of the secret with the certificate of the gateway, in the namespace of the platform. */
  readonly gatewaySecret: string;
  readonly section: Pick<
    KubernetesSection,
    'identityLifetimeMs' | 'authoritySettleMs' | 'certificatePollMs'
  >;
  readonly clock: Clock;
  readonly log: Log;
}

/** The parts that the orchestrator uses. */
export interface OpenedIdentities {
  readonly identities: IdentitySecrets;
  /** Begins to keep the certificate of the gateway, for which nobody waits, until what it returns is disposed of. */
  readonly keepGateway: () => AsyncDisposable;
}

interface OpenedAuthority {
  readonly authority: IdentityAuthority;
  readonly refresh: () => Promise<unknown>;
}

/** How the operator asks for another authority. */
const ASKING = 'svc.kubernetes.new-authority=true';
/** Anybody may read the certificates of authorities. */
const PUBLIC_MODE = 0o644;

/**
 * Opens the authority, without asking the cluster. Rejects with SVC_AUTHORITY_UNUSABLE and SVC_AUTHORITY_LOST, and with the system's error if an
 * authority that was made cannot be written.
 */
export async function openIdentities(options: IdentitiesOptions): Promise<OpenedIdentities> {
  const { client, installation, section, clock, log } = options;
  const { authority, refresh } = await openAuthority(options);
  const { trustDomain, gatewayId: id } = installation;
  const identities = new IdentitySecrets({
    authority,
    trustDomain,
    lifetimeMs: section.identityLifetimeMs,
    clock,
  });
  const faults = new FaultLog(log, clock);
  const what = 'The certificate of the gateway cannot be kept, which is tried again';
  const gateway = {
    client,
    identities,
    owner: { secret: gatewaySecretOf(options), id },
    refreshAuthority: refresh,
    pollMs: section.certificatePollMs,
    clock,
    onFailure: (error: unknown) => faults.report(what, undefined, error),
  };
  return { identities, keepGateway: () => new GatewayIdentity(gateway) };
}

async function openAuthority(options: IdentitiesOptions): Promise<OpenedAuthority> {
  const { installation, authority: choice, section, clock, log } = options;
  const times = {
    lifetimeMs: section.identityLifetimeMs,
    settleMs: section.authoritySettleMs,
  };
  if (choice.kind === 'given') {
    const given = await GivenAuthority.open({ folder: choice.folder, ...times, clock, log });
    return { authority: given, refresh: () => given.refresh() };
  }
  const { file, publishedFile, isNew } = choice;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const published = existsSync(publishedFile) ? readFileSync(publishedFile, 'utf8') : '';
  const own = await Authority.open({
    ...times,
    file,
    isNew,
    kind: 'identities',
    domain: installation.trustDomain,
    published,
    words: { trustedBy: 'the services of the cluster', asking: ASKING },
    nowMs: clock.nowMs(),
    log,
    carryOut,
  });
  const trusted = own.trusted(clock.nowMs());
  if (trusted !== published) carryOut(fileSteps(publishedFile, trusted, PUBLIC_MODE));
  return { authority: own, refresh: () => Promise.resolve() };
}

function gatewaySecretOf({
  installation,
  gatewaySecret,
}: Pick<IdentitiesOptions, 'installation' | 'gatewaySecret'>) {
  return platformIdentitySecret(installation.namespace, gatewaySecret);
}
