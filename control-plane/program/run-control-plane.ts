// RunControlPlane runs the control plane of this process: it reads the settings, serves the API until it is stopped, and turns a
// failure into a message and an exit code.
import { providerMetrics } from '@svc/api/provider-metrics';
import type { Log } from '@svc/kit/log';
import type { ProgramInputs } from '@svc/kit/program-flags';
import { runProgram } from '@svc/kit/program-run';
import { SvcError } from '@svc/kit/svc-error';
import { TokenVerifier } from '@svc/tokens/token-verifier';
import { callerOf } from '../access/token-caller.ts';
import { startControlPlane } from '../control-plane.ts';
import { browserAccess } from '../endpoints/browser-access.ts';
import type { ClusterMemory } from '../kubernetes/cluster-identity.ts';
import type { openKubernetesOrchestrator as OpenKubernetes } from '../kubernetes/open-kubernetes-orchestrator.ts';
import type { openLocalOrchestrator as OpenLocal } from '../local/open-local-orchestrator.ts';
import { NO_ORCHESTRATOR } from '../orchestration/no-orchestrator.ts';
import type { Orchestrator } from '../orchestration/orchestrator.ts';
import manifest from '../package.json' with { type: 'json' };
import { clusterMemory } from './cluster-memory.ts';
import { type ProgramSettings, readControlPlaneSettings } from './control-plane-settings.ts';

type OpenLocalOrchestrator = typeof OpenLocal;
type OpenKubernetesOrchestrator = typeof OpenKubernetes;

/** The orchestrator of the installation. */
interface OpenedOrchestrator extends AsyncDisposable {
  readonly orchestrator: Orchestrator;
  /** Resolves when the program has to end because of the orchestrator. Absent: never. */
  readonly failure?: Promise<SvcError>;
}

/** Resolves with the exit code once the control plane has stopped or could not start. Rejects only with an error that is no SvcError. */
export function runControlPlane(
  inputs: ProgramInputs,
  stopRequested: Promise<string>,
): Promise<number> {
  return runProgram({
    readSettings: () => readControlPlaneSettings(inputs),
    nameOf: () => 'control-plane',
    serve: (settings, log) => serve(settings, log, stopRequested),
  });
}

/** Resolves once the control plane has stopped. Rejects with an SvcError if it cannot start, or cannot continue. */
async function serve(
  settings: ProgramSettings,
  log: Log,
  stopRequested: Promise<string>,
): Promise<void> {
  const { tokens } = settings;
  const verifier = new TokenVerifier({
    settings: tokens,
    callerOf: (claims) => callerOf(claims, tokens.rolesPath),
    log,
  });
  const memory = Promise.withResolvers<ClusterMemory>();
  const opened = await openedOrchestrator(settings, memory.promise, log);
  try {
    const controlPlane = await startControlPlane({
      verifier,
      orchestrator: opened?.orchestrator ?? NO_ORCHESTRATOR,
      settings: installation(settings),
      host: { ...hostOptions(settings), metrics: providerMetrics('control_plane', verifier.keys) },
      log,
    });
    memory.resolve(clusterMemory(controlPlane.service));
    const { url } = controlPlane;
    log({ level: 'info', message: 'listening', fields: { url, ...shownJournal(settings) } });
    process.stdout.write(`${url}\n`);
    const failures = [controlPlane.failure, ...(opened?.failure ? [opened.failure] : [])];
    const reason = await Promise.race([stopRequested, ...failures]);
    const isFailure = reason instanceof SvcError;
    if (!isFailure) log({ level: 'info', message: 'stopping', fields: { reason } });
    await controlPlane.stop(settings.section.stopTimeoutMs);
    if (isFailure) throw reason;
    log({ level: 'info', message: 'stopped' });
  } finally {
    // The services go on; the next control plane finds them.
    await opened?.[Symbol.asyncDispose]();
    verifier.close();
  }
}

/** Opens the orchestrator that the settings choose; undefined: nothing runs. */
async function openedOrchestrator(
  { local, kubernetes, baseDomain, tokens }: ProgramSettings,
  memory: Promise<ClusterMemory>,
  log: Log,
): Promise<OpenedOrchestrator | undefined> {
  const about = { version: manifest.version, baseDomain, provider: tokens };
  if (local !== undefined) return await openedLocal(local, about, log);
  return kubernetes && (await openedKubernetes(kubernetes, { ...about, memory }, log));
}

/** Loads the code of the orchestrator of a cluster only in an installation that has one. */
async function openedKubernetes(
  ...parts: Parameters<OpenKubernetesOrchestrator>
): ReturnType<OpenKubernetesOrchestrator> {
  const { openKubernetesOrchestrator } =
    await import('../kubernetes/open-kubernetes-orchestrator.ts');
  return await openKubernetesOrchestrator(...parts);
}

/** Loads the code of the local orchestrator, with its client of registries, only in an installation that has one. */
async function openedLocal(
  ...parts: Parameters<OpenLocalOrchestrator>
): ReturnType<OpenLocalOrchestrator> {
  const { openLocalOrchestrator } = await import('../local/open-local-orchestrator.ts');
  return await openLocalOrchestrator(...parts);
}

/** Names of the settings in errors about an address. */
const SETTING_NAMES = {
  http: { host: '--host', port: '--port' },
  management: { host: 'svc.management.host', port: 'svc.management.port' },
};

type Parts = Parameters<typeof startControlPlane>[0];

function installation({
  tokens,
  baseDomain,
  policy,
  orchestrator,
  section,
}: ProgramSettings): Parts['settings'] {
  const { issuer, clientId, audience } = tokens;
  return {
    login: { issuer, clientId, audience },
    policy,
    baseDomain,
    orchestration: orchestrator,
    limits: section,
    version: manifest.version,
  };
}

/** Returns the options that say where the journal is. */
function journalOptions({ database, dataFolder }: ProgramSettings) {
  return database === undefined ? { dataFolder } : { database };
}

function shownJournal({ database, dataFolder }: ProgramSettings): Readonly<Record<string, string>> {
  return database === undefined
    ? { dataFolder }
    : { database: database.urlFile ?? database.urlVariable };
}

function hostOptions(settings: ProgramSettings): Parts['host'] {
  const { host, tls, section, deployed, management, runningFolder, otlp } = settings;
  const { allowedOrigins } = settings;
  return {
    ...journalOptions(settings),
    http: { host, port: section.port, tls },
    settings: browserAccess(allowedOrigins),
    deployed,
    management: deployed && management,
    settingNames: SETTING_NAMES,
    observability: {
      ...(runningFolder === undefined ? {} : { runningFolder }),
      ...(otlp === undefined ? {} : { otlp: { endpoint: otlp.url, headers: otlp.headers } }),
    },
  };
}
