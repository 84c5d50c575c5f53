// CredentialPlugin runs the program that prints the credentials of a kubeconfig (`exec`), and reads what it has printed.
//
// Invariants
// P1  A run ends with all its children after its time, and its output is bounded.
// P2  Nothing that a plugin prints gets into a message: it may be a token.
import { spawn } from 'node:child_process';
import { GatheredBytes } from '@svc/kit/gathered-bytes';
import type { KubeCredentials } from '../api/kube-credentials.ts';
import type { CredentialCommand } from './cluster-access.ts';
import { isFields } from './unusable-access.ts';
import { unusableCredentials } from './unusable-credentials.ts';

export interface PluginCredentials {
  readonly credentials: KubeCredentials;
  /** When they expire, in milliseconds since 1970; undefined: the plugin does not say. */
  readonly expiresMs: number | undefined;
}

export interface PluginOptions {
  /** Environment of the control plane, which a plugin has too. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  /** Aborted: a plugin that runs is ended. */
  readonly signal: AbortSignal;
}

const OUTPUT_BYTES_MAX = 1024 * 1024;
const TOKEN = /^[\x21-\x7e]+$/;
const PEM_BEGIN = '-----BEGIN ';

/** Rejects with SVC_CLUSTER_CREDENTIALS_UNUSABLE. */
export async function runCredentialPlugin(
  plugin: CredentialCommand,
  options: PluginOptions,
): Promise<PluginCredentials> {
  return credentialsIn(await outputOf(plugin, options), plugin.command);
}

function outputOf(
  { command, args, env, execInfo }: CredentialCommand,
  { environment, timeoutMs, signal }: PluginOptions,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: { ...environment, ...env, KUBERNETES_EXEC_INFO: execInfo },
      stdio: ['ignore', 'pipe', 'ignore'],
      // A process group of its own, so that what the plugin has started ends with it.
      detached: true,
    });
    const output = new GatheredBytes(OUTPUT_BYTES_MAX);
    const end = () => {
      clearTimeout(late);
      signal.removeEventListener('abort', stop);
      killGroup(child.pid);
    };
    const fail = (problem: string, cause?: unknown) => {
      end();
      reject(failure(command, problem, cause));
    };
    const stop = () => fail('was ended, because the control plane is stopping');
    signal.addEventListener('abort', stop, { once: true });
    const late = setTimeout(() => fail(`has not ended within ${timeoutMs} ms`), timeoutMs);
    child.on('error', (error: NodeJS.ErrnoException) =>
      fail(`cannot be started: ${error.code ?? 'unknown reason'}`, error),
    );
    child.stdout.on('data', (piece: Buffer) => {
      output.add(piece);
      if (output.whole.length > OUTPUT_BYTES_MAX)
        fail(`prints more than ${OUTPUT_BYTES_MAX} bytes`);
    });
    child.on('exit', (code, ended) => {
      if (code !== 0)
        fail(code === null ? `was ended by ${ended}` : `has failed with exit code ${code}`);
    });
    // Its output may follow its end.
    child.on('close', () => {
      end();
      resolve(output.whole.toString('utf8'));
    });
  });
}

function credentialsIn(text: string, command: string): PluginCredentials {
  const fail = (problem: string, cause?: unknown) => {
    throw failure(command, problem, cause);
  };
  let printed: unknown;
  try {
    printed = JSON.parse(text);
  } catch {
    // The words of the parser quote the text.
    fail('prints something that is not JSON');
  }
  const status =
    isFields(printed) && printed['kind'] === 'ExecCredential' ? printed['status'] : undefined;
  if (!isFields(status)) return fail('prints no ExecCredential with a `status`');
  const {
    token,
    clientCertificateData: certificate,
    clientKeyData: key,
    expirationTimestamp,
  } = status;
  const hasPair = isPem(certificate) && isPem(key);
  if (!hasPair && (certificate !== undefined || key !== undefined))
    fail('prints a certificate and a key that are not both PEM texts');
  if (token !== undefined && (typeof token !== 'string' || !TOKEN.test(token)))
    fail('prints a token that no header can have');
  if (token === undefined && !hasPair) fail('prints neither a token nor a certificate');
  const expiresMs =
    typeof expirationTimestamp === 'string' ? Date.parse(expirationTimestamp) : undefined;
  if (Number.isNaN(expiresMs)) fail('prints an `expirationTimestamp` that is no time');
  return {
    credentials: {
      authorization: token === undefined ? undefined : `Bearer ${token as string}`,
      certificate: hasPair ? certificate : undefined,
      key: hasPair ? key : undefined,
    },
    expiresMs,
  };
}

function isPem(value: unknown): value is string {
  return typeof value === 'string' && value.includes(PEM_BEGIN);
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of it has ended.
  }
}

function failure(command: string, problem: string, cause?: unknown): Error {
  return unusableCredentials(
    `The credential plugin ${JSON.stringify(command)} of the kubeconfig ${problem}`,
    'Run it as the user of the control plane to see why, or give the kubeconfig a token or a client certificate.',
    cause,
  );
}
