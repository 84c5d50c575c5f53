// RunWebhooks runs the webhook service of this process: it reads the settings, serves until it is stopped, and turns a failure into a
// message and an exit code.
import { providerMetrics } from '@svc/api/provider-metrics';
import type { Log } from '@svc/kit/log';
import type { ProgramInputs } from '@svc/kit/program-flags';
import { runProgram } from '@svc/kit/program-run';
import { SvcError } from '@svc/kit/svc-error';
import { TokenVerifier } from '@svc/tokens/token-verifier';
import { TenantAuthorization } from '../access/tenant-authorization.ts';
import { callerOf } from '../access/webhook-caller.ts';
import { SENDER_LIMITS_DEFAULT } from '../sending/sender-limits.ts';
import { developmentMasterKey, readMasterKey } from '../subscriptions/master-key.ts';
import { startWebhooks, type WebhookHost, type WebhookService } from '../webhook-service.ts';
import { AttemptMetrics } from './attempt-metrics.ts';
import { segmentMetrics } from './segment-metrics.ts';
import { deliveryLimits } from './webhooks-section.ts';
import { readReceiverAuthorities } from './receiver-authorities.ts';
import {
  AUTHORITIES_FILE,
  MASTER_KEY_FILE,
  type ProgramSettings,
  readWebhooksSettings,
} from './webhooks-settings.ts';

/** Time after which a name server that does not answer is asked once more. */
const NAME_TIMEOUT_MS = 2_000;

/** Names of the settings in errors about an address. */
const SETTING_NAMES = {
  http: { host: '--host', port: '--port' },
  management: { host: 'svc.management.host', port: 'svc.management.port' },
};

/** Resolves with the exit code once the service has stopped or could not start. Rejects only with an error that is no SvcError. */
export function runWebhooks(
  inputs: ProgramInputs,
  stopRequested: Promise<string>,
): Promise<number> {
  return runProgram({
    readSettings: () => readWebhooksSettings(inputs),
    nameOf: () => 'webhook-service',
    serve: (settings, log) => serve(settings, log, stopRequested),
  });
}

/** Resolves once the service has stopped. Rejects with an SvcError if it cannot start, or cannot continue. */
async function serve(
  settings: ProgramSettings,
  log: Log,
  stopRequested: Promise<string>,
): Promise<void> {
  const { tokens, claims, dataFolder, database, masterKeyFile, section } = settings;
  const masterKey =
    masterKeyFile === undefined
      ? await developmentMasterKey(dataFolder)
      : await readMasterKey(masterKeyFile, MASTER_KEY_FILE);
  const { authoritiesFile } = settings;
  const authorities =
    authoritiesFile === undefined
      ? []
      : await readReceiverAuthorities(authoritiesFile, AUTHORITIES_FILE);
  const verifier = new TokenVerifier({
    settings: tokens,
    callerOf: (found) => callerOf(found, claims),
    log,
  });
  const authorization = new TenantAuthorization({ verifier, limits: section });
  const attempts = new AttemptMetrics();
  let running: WebhookService | undefined;
  try {
    const service = await startWebhooks({
      stored: database === undefined ? { dataFolder } : { database },
      masterKey,
      checkedFor: (who, kind) => authorization.of(who, kind),
      settings: {
        admitted: settings.admitted,
        authorities,
        nameTimeoutMs: NAME_TIMEOUT_MS,
        deliveries: deliveryLimits(section),
        sender: SENDER_LIMITS_DEFAULT,
      },
      host: {
        ...hostOptions(settings),
        metrics: [
          ...attempts.series(() => running?.counts()),
          ...segmentMetrics(() => running?.segmentCounts()),
          ...providerMetrics('webhooks', verifier.keys),
        ],
      },
      log,
      attempted: (result) => attempts.count(result),
    });
    running = service;
    const { url } = service;
    log({ level: 'info', message: 'listening', fields: { url, ...shownStorage(settings) } });
    process.stdout.write(`${url}\n`);
    const reason = await Promise.race([stopRequested, service.failure]);
    const isFailure = reason instanceof SvcError;
    if (!isFailure) log({ level: 'info', message: 'stopping', fields: { reason } });
    await service.stop(section.stopTimeoutMs);
    if (isFailure) throw reason;
    log({ level: 'info', message: 'stopped' });
  } finally {
    verifier.close();
  }
}

function shownStorage({ database, dataFolder }: ProgramSettings): Readonly<Record<string, string>> {
  return database === undefined
    ? { dataFolder }
    : { database: database.urlFile ?? database.urlVariable };
}

function hostOptions(settings: ProgramSettings): WebhookHost {
  const { host, tls, section, deployed, management, runningFolder, otlp } = settings;
  return {
    http: { host, port: section.port, tls },
    deployed,
    management: deployed && management,
    settingNames: SETTING_NAMES,
    observability: {
      ...(runningFolder === undefined ? {} : { runningFolder }),
      ...(otlp === undefined ? {} : { otlp: { endpoint: otlp.url, headers: otlp.headers } }),
    },
  };
}
