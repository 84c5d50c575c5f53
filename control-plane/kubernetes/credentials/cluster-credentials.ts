// ClusterCredentials: the present credentials for the API server. Tokens and certificates in files are read again, because others replace them, and a
// credential plugin is run again before what it has printed expires.
//
// Invariants
// C1  Files are read, or the plugin is run, once at a time and not in a loop: after a failure, and after a renewal, there is a pause.
// C2  A certificate that has expired, or does not belong to its key, is an error before it is sent.
import { readFileSync } from 'node:fs';
import { parseServerPair } from '@svc/identity/certificates';
import type { Clock } from '@svc/kit/clock';
import { areSame, type CredentialSource, type KubeCredentials } from '../api/kube-credentials.ts';
import type { AccessUser, ClusterAccess, PemSource } from './cluster-access.ts';
import { type PluginOptions, runCredentialPlugin } from './credential-plugin.ts';
import { unusableCredentials } from './unusable-credentials.ts';

export interface ClusterCredentialsOptions {
  readonly access: ClusterAccess;
  readonly plugin: PluginOptions;
  readonly clock: Clock;
}

interface Had {
  readonly credentials: KubeCredentials;
  /** Until when they need not be read again, by the monotonic clock. */
  readonly untilMs: number;
}

/** Age at which files are read again. Kubernetes replaces the token of a pod long before it expires. */
const FILES_AGE_MS = 10_000;
/** Time before credentials of a plugin expire at which it is run again. */
const EXPIRY_MARGIN_MS = 10_000;
/** Least time between two runs or readings because of failures, refusals, or credentials that expire at once. */
export const CREDENTIALS_PAUSE_MS = 2000;
const TOKEN = /^[\x21-\x7e]+$/;

export class ClusterCredentials implements CredentialSource {
  readonly #options: ClusterCredentialsOptions;
  #had: Had | undefined;
  #reading: Promise<KubeCredentials> | undefined;
  #failure: { readonly error: unknown; readonly untilMs: number } | undefined;
  /** When credentials may be renewed again because of a refusal, by the monotonic clock. */
  #renewableMs = Number.NEGATIVE_INFINITY;

  constructor(options: ClusterCredentialsOptions) {
    this.#options = options;
  }

  /** Rejects with SVC_CLUSTER_CREDENTIALS_UNUSABLE. */
  async current(): Promise<KubeCredentials> {
    const had = this.#had;
    const nowMs = this.#options.clock.monotonicMs();
    return had !== undefined && nowMs < had.untilMs ? had.credentials : await this.#again();
  }

  /** Rejects with SVC_CLUSTER_CREDENTIALS_UNUSABLE. */
  async renewed(refused: KubeCredentials): Promise<KubeCredentials> {
    const had = this.#had;
    if (had !== undefined && !areSame(had.credentials, refused)) return had.credentials;
    const nowMs = this.#options.clock.monotonicMs();
    if (nowMs < this.#renewableMs && this.#reading === undefined) return refused;
    this.#renewableMs = nowMs + CREDENTIALS_PAUSE_MS;
    return await this.#again();
  }

  #again(): Promise<KubeCredentials> {
    const { clock } = this.#options;
    if (this.#reading !== undefined) return this.#reading;
    if (this.#failure !== undefined && clock.monotonicMs() < this.#failure.untilMs)
      return Promise.reject(this.#failure.error);
    this.#reading = this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #read(): Promise<KubeCredentials> {
    const { access, clock } = this.#options;
    try {
      const { plugin } = access.user;
      this.#had = plugin === undefined ? this.#fromFiles(access.user) : await this.#fromPlugin();
      this.#failure = undefined;
      return this.#had.credentials;
    } catch (error) {
      this.#had = undefined;
      this.#failure = { error, untilMs: clock.monotonicMs() + CREDENTIALS_PAUSE_MS };
      throw error;
    }
  }

  async #fromPlugin(): Promise<Had> {
    const { access, plugin, clock } = this.#options;
    const { credentials, expiresMs } = await runCredentialPlugin(access.user.plugin!, plugin);
    this.#checkPair(credentials, 'that the credential plugin of the kubeconfig has printed');
    const lastsMs = expiresMs === undefined ? Infinity : expiresMs - clock.nowMs();
    const untilMs =
      clock.monotonicMs() + Math.max(lastsMs - EXPIRY_MARGIN_MS, CREDENTIALS_PAUSE_MS);
    return { credentials, untilMs };
  }

  #fromFiles({ token, tokenFile, pair }: AccessUser): Had {
    const found = token ?? (tokenFile === undefined ? undefined : this.#text(tokenFile).trim());
    if (found !== undefined && !TOKEN.test(found))
      throw unusableCredentials(
        `The token ${token === undefined ? `in ${tokenFile}` : 'of the kubeconfig'} is empty, or has characters that no token has`,
        'Replace it by a token for the API server.',
      );
    const credentials = {
      authorization: found === undefined ? undefined : `Bearer ${found}`,
      certificate: pair && this.#pem(pair.certificate),
      key: pair && this.#pem(pair.key),
    };
    this.#checkPair(credentials, whereOf(pair?.certificate));
    const untilMs = this.#options.clock.monotonicMs() + FILES_AGE_MS;
    return { credentials, untilMs };
  }

  #checkPair({ certificate, key }: KubeCredentials, where: string): void {
    if (certificate === undefined || key === undefined) return;
    const parsed = parseServerPair({ certificate, key }, this.#options.clock.nowMs());
    if ('problem' in parsed)
      throw unusableCredentials(
        `The client certificate ${where} cannot be used: ${parsed.problem.replace(/\.$/, '')}`,
        'Renew the certificate, or compare the clock of this machine with that of the cluster.',
      );
  }

  #pem(source: PemSource): string {
    return 'pem' in source ? source.pem : this.#text(source.file);
  }

  #text(file: string): string {
    return readTextOf(file, this.#options.access.source);
  }
}

/** Returns the certificates of the authority of a cluster; undefined if it has none of its own. Throws SVC_CLUSTER_CREDENTIALS_UNUSABLE. */
export function authorityOf({ authority, source }: ClusterAccess): string | undefined {
  if (authority === undefined || 'pem' in authority) return authority?.pem;
  return readTextOf(authority.file, source);
}

function readTextOf(file: string, source: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw unusableCredentials(
      `The file ${file}, which ${lowerFirst(source)} names, cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'it is no file'}`,
      'Restore the file, and let the user of the control plane read it.',
      error,
    );
  }
}

function whereOf(certificate: PemSource | undefined): string {
  return certificate === undefined || 'pem' in certificate
    ? 'of the kubeconfig'
    : `in ${certificate.file}`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
