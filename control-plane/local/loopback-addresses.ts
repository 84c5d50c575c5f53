// LoopbackAddresses: an address of this machine's loopback network for each instance, on which the ports of the contract are free.
import { createServer } from 'node:net';

/** Addresses that are tried. More of them being taken means that something is wrong. */
const ATTEMPTS_MAX = 50;
const HOSTS = 256 * 254;

/** The reason why an instance cannot have its ports. */
export class NoFreeAddress extends Error {
  override readonly name = 'NoFreeAddress';
}

/**
 * Returns an address of the network on which nothing listens at the ports. `network`: its first two numbers, such as `127.83`.
 * `taken`: addresses of other instances, whether they run or not. Rejects with NoFreeAddress.
 */
export async function freeAddress(
  network: string,
  taken: ReadonlySet<string>,
  ports: readonly number[],
): Promise<string> {
  let refusal: unknown;
  let next = Math.floor(Math.random() * HOSTS);
  for (let attempt = 0; attempt < ATTEMPTS_MAX; next++) {
    const host = next % HOSTS;
    const address = `${network}.${Math.floor(host / 254)}.${(host % 254) + 1}`;
    if (taken.has(address)) {
      if (taken.size >= HOSTS) break;
      continue;
    }
    attempt++;
    try {
      for (const port of ports) await tryToListen(address, port);
      return address;
    } catch (error) {
      refusal = error;
    }
  }
  const { code, port } = (refusal ?? {}) as { code?: string; port?: number };
  throw new NoFreeAddress(
    `no address of ${network}.0.0/16 has port ${port} free (${code}); a program that listens at ${port} on all addresses takes it on each of them`,
  );
}

/** Without `reusePort`: with it two programs would share the port without noticing. */
async function tryToListen(host: string, port: number): Promise<void> {
  const server = createServer();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen({ host, port, exclusive: true }, resolve);
  await promise;
  await new Promise((closed) => server.close(closed));
}
