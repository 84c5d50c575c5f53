// DnsResolver: the two questions that finding a service asks the name server, with their deadlines. An interface, so that
// tests can put faults in its place.
import { Resolver } from 'node:dns/promises';

export interface ServiceRecord {
  readonly name: string;
  readonly port: number;
  readonly priority: number;
  readonly weight: number;
}

export interface AddressRecord {
  readonly address: string;
  /** Seconds for which the record is valid. */
  readonly ttl: number;
}

/** A name without records gives an empty list. Everything else that goes wrong rejects. */
export interface DnsResolver {
  services(name: string): Promise<readonly ServiceRecord[]>;
  addresses(name: string): Promise<readonly AddressRecord[]>;
  /** Rejects the questions that wait for an answer. */
  cancel(): void;
}

const ABSENT: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

export interface DnsResolverOptions {
  /** Time for one attempt at one name server, in milliseconds. */
  readonly timeoutMs: number;
  readonly tries: number;
  /** `ADDRESS` or `ADDRESS:PORT`; undefined: those of the system. */
  readonly servers?: readonly string[] | undefined;
}

/** The name servers of the system. Names are asked as they are: the search list of the system is not used. */
export class SystemResolver implements DnsResolver {
  readonly #resolver: Resolver;

  constructor({ timeoutMs, tries, servers }: DnsResolverOptions) {
    this.#resolver = new Resolver({ timeout: timeoutMs, tries });
    if (servers !== undefined) this.#resolver.setServers(servers);
  }

  async services(name: string): Promise<readonly ServiceRecord[]> {
    return emptyIfAbsent(this.#resolver.resolveSrv(name));
  }

  async addresses(name: string): Promise<readonly AddressRecord[]> {
    const [four, six] = await Promise.allSettled([
      emptyIfAbsent(this.#resolver.resolve4(name, { ttl: true })),
      emptyIfAbsent(this.#resolver.resolve6(name, { ttl: true })),
    ]);
    if (four.status === 'rejected' && six.status === 'rejected') throw four.reason;
    const found = [four, six].flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    // One family failed, and the other has no record: the name may have addresses.
    const failed = [four, six].find((one) => one.status === 'rejected');
    if (found.length === 0 && failed !== undefined) throw failed.reason;
    return found;
  }

  cancel(): void {
    this.#resolver.cancel();
  }
}

async function emptyIfAbsent<Found>(question: Promise<Found[]>): Promise<Found[]> {
  try {
    return await question;
  } catch (error) {
    if (ABSENT.has((error as NodeJS.ErrnoException).code ?? '')) return [];
    throw error;
  }
}
