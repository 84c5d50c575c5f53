// OpenKubernetesOrchestrator: the orchestrator of a Kubernetes cluster with all its parts, from its settings.
import { SYSTEM_CLOCK } from '@svc/kit/clock';
import type { Log } from '@svc/kit/log';
import type { SvcError } from '@svc/kit/svc-error';
import type { Orchestrator } from '../orchestration/orchestrator.ts';
import {
  type Provider,
  serviceTokens,
  warnOfSharedAudience,
} from '../orchestration/service-tokens.ts';
import { KubeClient } from './api/kube-client.ts';
import { KubeTransport } from './api/kube-transport.ts';
import type { ClusterMemory } from './cluster-identity.ts';
import type { ClusterAccess } from './credentials/cluster-access.ts';
import { authorityOf, ClusterCredentials } from './credentials/cluster-credentials.ts';
import { readKubeconfig } from './credentials/kubeconfig.ts';
import { readPodAccess } from './credentials/pod-access.ts';
import { IdentifiedOrchestrator } from './identified-orchestrator.ts';
import { readAnnotationsFile, readDatabasesFile } from './installation-files.ts';
import {
  type IdentitiesOptions,
  type OpenedIdentities,
  openIdentities,
} from './open-identities.ts';
import { KubernetesOrchestrator } from './kubernetes-orchestrator.ts';
import type { KubernetesSettings } from './kubernetes-settings.ts';
import type { KubernetesInstallation } from './manifests/installation.ts';
import { FIELD_MANAGER } from './manifests/object-names.ts';

export interface InstalledInCluster {
  /** With its port, if it has one; undefined: no hostname is derived. */
  readonly baseDomain: string | undefined;
  readonly provider: Provider;
  /** Resolves when the journal of the control plane is open. */
  readonly memory: Promise<ClusterMemory>;
}

export interface OpenedKubernetes extends AsyncDisposable {
  readonly orchestrator: Orchestrator;
  /** Resolves if the cluster is another one than the control plane remembers: it has to end. */
  readonly failure: Promise<SvcError>;
}

/** Namespace of the platform if the control plane is no pod, and no setting names another one. */
const NAMESPACE_DEFAULT = 'svc-platform';

/**
 * Does not wait for the API server. Rejects with SVC_KUBECONFIG_UNUSABLE, SVC_CLUSTER_CREDENTIALS_UNUSABLE for those in files,
 * SVC_SETTING_INVALID for a file that a setting names, and as `openIdentities` does.
 */
export async function openKubernetesOrchestrator(
  settings: KubernetesSettings,
  installed: InstalledInCluster,
  log: Log,
): Promise<OpenedKubernetes> {
  const { kubeconfig, context, environment, section, serviceTokens: tokens } = settings;
  const access =
    kubeconfig === undefined ? readPodAccess(environment) : readKubeconfig(kubeconfig, context);
  const installation = installationOf(settings, access, installed);
  warnOfSharedAudience(installed.provider, tokens, 'svc.kubernetes', log);
  const clock = SYSTEM_CLOCK;
  const stopping = new AbortController();
  const { signal } = stopping;
  const plugin = { environment, timeoutMs: section.pluginTimeoutMs, signal };
  const credentials = new ClusterCredentials({ access, plugin, clock });
  // A plugin may need a network that is away, like the API server. Files are there, or somebody has to act.
  if (access.user.plugin === undefined) await credentials.current();
  const { server, serverName } = access;
  const authority = authorityOf(access);
  const transport = new KubeTransport({ server, authority, serverName, credentials }, section);
  const client = new KubeClient(transport, FIELD_MANAGER);
  const identities = await identitiesOf(settings, { client, installation, clock, log });
  const orchestrator = new IdentifiedOrchestrator({
    client,
    server,
    open: (cluster, id, confirmCluster) =>
      new KubernetesOrchestrator({
        client,
        installation: { ...installation, id, cluster },
        confirmCluster,
        ...identities,
        log,
        watchLimits: {
          watchMs: section.watchMs,
          silentMs: section.watchSilenceMs,
          pauseMinMs: section.watchPauseMinMs,
          pauseMaxMs: section.watchPauseMaxMs,
          eventBytesMax: section.eventBytesMax,
        },
        settledLimits: section,
        takeUpTimeoutMs: section.takeUpTimeoutMs,
      }),
    memory: installed.memory,
    isNewCluster: settings.isNewCluster,
    section,
    clock,
    log,
  });
  return {
    orchestrator,
    failure: orchestrator.failure,
    [Symbol.asyncDispose]: async () => {
      await orchestrator[Symbol.asyncDispose]();
      await transport[Symbol.asyncDispose]();
      stopping.abort();
    },
  };
}

/** Returns undefined if the operator makes the certificates of services. */
async function identitiesOf(
  { certificates, section }: KubernetesSettings,
  parts: Pick<IdentitiesOptions, 'client' | 'installation' | 'clock' | 'log'>,
): Promise<OpenedIdentities | undefined> {
  if (certificates.kind === 'operator') return undefined;
  const { authority, gatewaySecret } = certificates;
  return await openIdentities({ ...parts, authority, gatewaySecret, section });
}

/** Returns what manifests need, but for what is known once the cluster has answered. */
export function installationOf(
  settings: KubernetesSettings,
  { podNamespace }: Pick<ClusterAccess, 'podNamespace'>,
  { baseDomain, provider }: Pick<InstalledInCluster, 'baseDomain' | 'provider'>,
): Omit<KubernetesInstallation, 'id' | 'cluster'> {
  const { ingress, databasesFile, section } = settings;
  const { image, pullSecrets, registry, trustDomain, gatewayId, remotingFrom } = settings;
  return {
    image,
    namespace: settings.namespace ?? podNamespace ?? NAMESPACE_DEFAULT,
    pullSecrets,
    registry,
    baseDomain,
    trustDomain,
    gatewayId,
    ingress: ingress && {
      className: ingress.className,
      annotations:
        ingress.annotationsFile === undefined ? {} : readAnnotationsFile(ingress.annotationsFile),
      certificates: ingress.certificates,
    },
    journals: { storageClass: settings.storageClass, size: settings.journalSize },
    databases: databasesFile === undefined ? undefined : readDatabasesFile(databasesFile),
    remotingFrom,
    tokens: serviceTokens(provider, settings.serviceTokens),
    drainMs: section.drainMs,
    defaultResources: settings.defaultResources,
    sidecarResources: settings.sidecarResources,
  };
}
