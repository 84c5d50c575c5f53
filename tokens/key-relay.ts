// KeyRelay: gives the keys that an identity provider publishes to runtimes that do not reach it, because they are in a network namespace
// of their own. They ask at a Unix domain socket, whose path belongs to no network namespace (relayed-keys.ts). Decision 0068 says why.
//
// Invariants
// R1  Only the user of this process reaches the socket: its permissions are 0600.
// R2  The relay reads two documents of one provider, whatever a request says, and gives the keys to those alone who name its issuer.
// R3  At most one read is in progress. Requests that arrive during a read get its result.
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { discoverKeys, type KeysRead, readKeys } from './published-keys.ts';
import { relayPath } from './relayed-keys.ts';

/** The provider whose keys are given. */
export interface RelayedProvider {
  /** URL of the issuer, exactly as tokens have it. */
  readonly issuer: string;
  /** Time for one read: discovery document and keys together, in milliseconds. */
  readonly readTimeoutMs: number;
}

/** Requests at the same time. Each one is of a runtime of this machine, which sends one at a time. */
const CONNECTIONS_MAX = 1024;

export class KeyRelay implements AsyncDisposable {
  readonly #provider: RelayedProvider;
  readonly #path: string;
  readonly #server: Server;
  #reading: Promise<KeysRead> | undefined;

  private constructor(provider: RelayedProvider) {
    this.#provider = provider;
    this.#path = relayPath(provider.issuer);
    this.#server = createServer((request, response) => void this.#answer(request.url, response));
    this.#server.maxConnections = CONNECTIONS_MAX;
  }

  /**
   * Listens at the path, which should be in a folder of the user alone. A socket that is there is replaced. Rejects with the error of the
   * system.
   */
  static async listen(path: string, provider: RelayedProvider): Promise<KeyRelay> {
    const relay = new KeyRelay(provider);
    rmSync(path, { force: true });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    relay.#server.once('error', reject).listen(path, resolve);
    await promise;
    chmodSync(path, 0o600);
    return relay;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(path: string | undefined, response: ServerResponse): Promise<void> {
    if (path !== this.#path) {
      response.writeHead(404).end('the control plane has another identity provider now');
      return;
    }
    const read = await this.#read();
    if (read.kind === 'keys') response.writeHead(200).end(read.keys.text);
    else response.writeHead(503).end(read.problem);
  }

  #read(): Promise<KeysRead> {
    this.#reading ??= readPublishedKeys(this.#provider).finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }
}

/** Never rejects. */
async function readPublishedKeys({ issuer, readTimeoutMs }: RelayedProvider): Promise<KeysRead> {
  const access = { fetch: globalThis.fetch, signal: AbortSignal.timeout(readTimeoutMs) };
  const discovered = await discoverKeys({ issuer, ...access });
  return discovered.kind === 'problem' ? discovered : await readKeys(discovered.keysUrl, access);
}
