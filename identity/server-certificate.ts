// ServerCertificate: TLS of a server whose clients need no certificate. Certificate and key are read from two files, and read again
// from time to time; new ones apply to every connection that begins afterwards.
//
// Invariants
// - Files that cannot be used leave those before in use, and are logged once for each reason.
// - One check runs at a time.
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { createServer, type Server } from 'node:tls';
import type { LogEntry } from '@svc/kit/log-entry';
import { SvcError } from '@svc/kit/svc-error';
import { expiryEntry, expiryStage } from './certificate-expiry.ts';
import { readTogether } from './certificate-files.ts';
import { parseServerPair, type ServerPair } from './certificates.ts';

/** Paths of the files, in PEM. */
export interface ServerCertificateFiles {
  /** The certificate, and the intermediate ones after it. */
  readonly certificate: string;
  readonly key: string;
}

export interface ServerCertificateOptions {
  readonly log: (entry: LogEntry) => void;
  /** Pause in milliseconds between two reads of the files. */
  readonly pollMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

const POLL_MS = 10_000;
const HANDSHAKE_TIMEOUT_MS = 10_000;

interface ReadPair extends ServerPair {
  /** Digest of the texts. */
  readonly digest: string;
}

export class ServerCertificate {
  readonly #files: ServerCertificateFiles;
  readonly #log: (entry: LogEntry) => void;
  readonly #now: () => number;
  readonly #poll: NodeJS.Timeout;
  readonly #servers = new Set<Server>();
  /** Connections whose handshake is under way, by address and port of the client. */
  readonly #handshakes = new Map<string, Socket>();
  #pair: ReadPair;
  #checking: Promise<void> = Promise.resolve();
  /** Reason that was logged last. */
  #refused: string | undefined;
  #expiryStage = 0;

  private constructor(
    files: ServerCertificateFiles,
    pair: ReadPair,
    { log, pollMs = POLL_MS, now = Date.now }: ServerCertificateOptions,
  ) {
    this.#files = files;
    this.#pair = pair;
    this.#log = log;
    this.#now = now;
    this.#poll = setInterval(() => void this.check(), pollMs).unref();
  }

  /**
   * Reads the files. Rejects with SVC_CERTIFICATE_MISSING if one cannot be read, and with SVC_CERTIFICATE_UNUSABLE if they cannot be
   * used.
   */
  static async open(
    files: ServerCertificateFiles,
    options: ServerCertificateOptions,
  ): Promise<ServerCertificate> {
    const pair = await readPair(files, (options.now ?? Date.now)());
    if ('missing' in pair)
      throw new SvcError(
        'SVC_CERTIFICATE_MISSING',
        `The certificate of the server cannot be read: ${pair.missing} Name the files of the certificate and of its key.`,
      );
    if ('problem' in pair)
      throw new SvcError(
        'SVC_CERTIFICATE_UNUSABLE',
        `The certificate ${files.certificate} with the key ${files.key} cannot be used: ${pair.problem} Let it be issued again.`,
      );
    const opened = new ServerCertificate(files, pair, options);
    opened.#warnOfExpiry();
    return opened;
  }

  /** Creates a server, which is given new certificates until it is closed. */
  createServer(): Server {
    const server = createServer({
      ...this.#pair.options,
      allowHalfOpen: true,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      ALPNProtocols: ['http/1.1'],
    });
    this.#servers.add(server);
    server.on('close', () => this.#servers.delete(server));
    server.prependListener('connection', (raw: Socket) => {
      const client = clientOf(raw);
      this.#handshakes.set(client, raw);
      raw.once('close', () => this.#handshakes.delete(client));
    });
    server.on('secureConnection', (socket) => this.#handshakes.delete(clientOf(socket)));
    // node:tls leaves a connection open whose handshake takes too long.
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    return server;
  }

  /** Reads the files now. Resolves once a change that was there before the call is in use or refused. */
  check(): Promise<void> {
    this.#checking = this.#checking.then(() => this.#check());
    return this.#checking;
  }

  /** Cuts the connections whose handshake is under way: for a server that stops. */
  cutHandshakes(): void {
    for (const raw of this.#handshakes.values()) raw.destroy();
  }

  close(): void {
    clearInterval(this.#poll);
  }

  async #check(): Promise<void> {
    const pair = await readPair(this.#files, this.#now());
    if ('missing' in pair) this.#refuse(pair.missing);
    else if ('problem' in pair) this.#refuse(pair.problem);
    else this.#use(pair);
    this.#warnOfExpiry();
  }

  #use(pair: ReadPair): void {
    this.#refused = undefined;
    if (pair.digest === this.#pair.digest) return;
    this.#pair = pair;
    this.#expiryStage = 0;
    for (const server of this.#servers) server.setSecureContext(pair.options);
    this.#log({
      level: 'info',
      message: 'A new certificate is in use',
      fields: { file: this.#files.certificate, expiresAt: pair.leaf.validToDate.toISOString() },
    });
  }

  #refuse(problem: string): void {
    if (problem === this.#refused) return;
    this.#refused = problem;
    this.#log({
      level: 'warn',
      message: `A new certificate cannot be used: ${problem} The previous one remains in use.`,
      fields: { file: this.#files.certificate },
    });
  }

  #warnOfExpiry(): void {
    const { leaf } = this.#pair;
    const stage = expiryStage(leaf, this.#now());
    if (stage <= this.#expiryStage) return;
    this.#expiryStage = stage;
    this.#log(expiryEntry(leaf, { file: this.#files.certificate }, this.#now()));
  }
}

async function readPair(
  { certificate: certificateFile, key: keyFile }: ServerCertificateFiles,
  nowMs: number,
): Promise<ReadPair | { readonly missing: string } | { readonly problem: string }> {
  const texts = await readTogether([certificateFile, keyFile]);
  if (texts === undefined) return { missing: `${certificateFile} is being replaced all the time.` };
  if ('missing' in texts) return texts;
  const [certificate = '', key = ''] = texts;
  const pair = parseServerPair({ certificate, key }, nowMs);
  if ('problem' in pair) return pair;
  const digest = createHash('sha256').update(certificate).update(key).digest('base64');
  return { ...pair, digest };
}

function clientOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
