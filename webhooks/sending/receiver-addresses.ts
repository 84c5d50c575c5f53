// ReceiverAddresses: to which addresses a delivery may go. URLs come from tenants, and answers of name servers from anybody: neither may
// make this machine send requests into its own network.
//
// Invariants
// A1  What was checked is what is connected to: a name is resolved once for each connection, and the connection goes to the addresses found.
// A2  One address that may not be contacted blocks its name, whatever the other addresses are.
// A3  Names are resolved by c-ares, since the threads of the system's resolver are so few that one dead name server would stop every
//     other receiver. So the file of hosts of the machine does not count.
// A4  A name whose addresses of one family are known waits for those of the other one for a short time. A question that fails or is late has
//     no addresses: nothing is connected to that was not found. So a name server that does not know AAAA stops nobody's deliveries.
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isPublicAddress } from '@svc/addresses/public-address';
import { type Clock, SYSTEM_CLOCK } from '@svc/kit/clock';
import { AttemptFailure } from './attempt-error.ts';

/** Receivers that the operator admits although their addresses are not public. */
export interface AdmittedReceivers {
  /** In the form `10.0.0.0/8` or `fd00::/8`. */
  readonly networks: readonly string[];
  /** Names whose hosts may have any address, and all names below them. */
  readonly domains: readonly string[];
}

export interface ReceiverAddressesOptions {
  readonly admitted: AdmittedReceivers;
  readonly addressesMax: number;
  /** Time after which a name server that does not answer is asked once more, and then given up. */
  readonly nameTimeoutMs: number;
  /** Name servers, as `192.0.2.1:53`. Absent: those of the system. */
  readonly nameServers?: readonly string[];
  /** Asks name servers. Absent: c-ares. */
  readonly resolver?: NameResolver;
  readonly clock?: Clock;
  /** Returns the addresses of this machine. Absent: those of its network interfaces. */
  readonly machineAddresses?: () => readonly string[];
}

export type NameResolver = Pick<Resolver, 'cancel'> & {
  resolve4(name: string): Promise<string[]>;
  resolve6(name: string): Promise<string[]>;
};

const NETWORK = /^([^/]+)\/(\d{1,3})$/;
/** Time for the addresses of one family once those of the other one are known. */
const OTHER_FAMILY_MS = 500;
/** Age from which the addresses of this machine are read again. */
const MACHINE_ADDRESSES_MS = 10_000;
const PORT_MAX_OF_SYSTEM = 1023;
const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

export class ReceiverAddresses {
  readonly #resolver: NameResolver;
  readonly #clock: Clock;
  readonly #machineAddresses: () => readonly string[];
  #machine = new BlockList();
  #machineReadMs = Number.NEGATIVE_INFINITY;
  readonly #networks = new BlockList();
  readonly #domains: readonly string[];
  readonly #addressesMax: number;

  constructor({
    admitted,
    addressesMax,
    nameTimeoutMs,
    nameServers,
    resolver,
    clock = SYSTEM_CLOCK,
    machineAddresses = addressesOfInterfaces,
  }: ReceiverAddressesOptions) {
    this.#resolver = resolver ?? resolverOf(nameTimeoutMs, nameServers);
    this.#clock = clock;
    this.#machineAddresses = machineAddresses;
    for (const network of admitted.networks) {
      const [, address = '', bits = ''] = NETWORK.exec(network) ?? [];
      const version = isIP(address);
      if (version === 0)
        throw new TypeError(`"${network}" is no network. Write it as 10.0.0.0/8 or fd00::/8.`);
      this.#networks.addSubnet(address, Number(bits), version === 6 ? 'ipv6' : 'ipv4');
    }
    for (const domain of admitted.domains)
      if (domain === '' || domain.startsWith('.') || domain.endsWith('.'))
        throw new TypeError(`"${domain}" is no domain. Write it as example.com.`);
    this.#domains = admitted.domains.map((domain) => domain.toLowerCase());
    this.#addressesMax = addressesMax;
  }

  /**
   * Judges what a URL says without a name server: its port, an address in every spelling that a URL may have, and the names of this machine.
   * Throws AttemptFailure.
   */
  check({ hostname, port, protocol }: URL): void {
    const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
    if (number <= PORT_MAX_OF_SYSTEM && !WEB_PORTS.has(number))
      throw new AttemptFailure('blocked_address');
    const address = hostname.replace(/^\[(.*)\]$/, '$1');
    if (isIP(address) !== 0 && !this.#isAdmitted(address))
      throw new AttemptFailure('blocked_address');
    if (isLocalhost(address)) this.#ownAddresses(address);
  }

  /** For connections: gives the addresses of a name, all of which were checked, or an AttemptFailure. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    void this.#answer(hostname, options.all === true, callback);
  };

  async #answer(
    hostname: string,
    isForAll: boolean,
    callback: Parameters<LookupFunction>[2],
  ): Promise<void> {
    let found: LookupAddress[];
    try {
      found = await this.#find(hostname);
    } catch (error) {
      callback(error as AttemptFailure, []);
      return;
    }
    if (isForAll) callback(null, found);
    else callback(null, found[0]!.address, found[0]!.family);
  }

  async #find(hostname: string): Promise<LookupAddress[]> {
    if (isLocalhost(hostname)) return this.#ownAddresses(hostname);
    const found = await this.#resolve(hostname);
    if (found.length === 0) throw new AttemptFailure('dns');
    const isAllowed = ({ address }: LookupAddress): boolean => this.#isAllowed(hostname, address);
    if (!found.every(isAllowed)) throw new AttemptFailure('blocked_address');
    return found.slice(0, this.#addressesMax);
  }

  /** Returns the addresses of this machine that are allowed. No name server has a say in these, so that one of them may be admitted alone. */
  #ownAddresses(hostname: string): LookupAddress[] {
    const own = LOOPBACK.filter(({ address }) => this.#isAllowed(hostname, address));
    if (own.length === 0) throw new AttemptFailure('blocked_address');
    return own;
  }

  #isAllowed(hostname: string, address: string): boolean {
    const isAdmittedName = this.#domains.some(
      (domain) => hostname === domain || hostname.endsWith(`.${domain}`),
    );
    return isAdmittedName || this.#isAdmitted(address);
  }

  /** Ends all questions under way. */
  cancel(): void {
    this.#resolver.cancel();
  }

  async #resolve(hostname: string): Promise<readonly LookupAddress[]> {
    const ipv4 = foundBy(this.#resolver.resolve4(hostname), 4);
    const ipv6 = foundBy(this.#resolver.resolve6(hostname), 6);
    const families = await Promise.all([
      this.#unlessLate(ipv4, ipv6),
      this.#unlessLate(ipv6, ipv4),
    ]);
    return families.flat();
  }

  /** Resolves with no addresses if they come long after those of the other family. */
  async #unlessLate(
    addresses: Promise<readonly LookupAddress[]>,
    others: Promise<readonly LookupAddress[]>,
  ): Promise<readonly LookupAddress[]> {
    const late = Promise.withResolvers<readonly LookupAddress[]>();
    let cancel: (() => void) | undefined;
    let isOver = false;
    void others.then(({ length }) => {
      if (length === 0 || isOver) return;
      cancel = this.#clock.after(OTHER_FAMILY_MS, () => late.resolve([]));
    });
    const first = await Promise.race([addresses, late.promise]);
    isOver = true;
    cancel?.();
    return first;
  }

  #isAdmitted(address: string): boolean {
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (this.#networks.check(address, family)) return true;
    return isPublicAddress(address) && !this.#isMachine(address, family);
  }

  #isMachine(address: string, family: 'ipv4' | 'ipv6'): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#machineReadMs >= MACHINE_ADDRESSES_MS) {
      this.#machineReadMs = nowMs;
      this.#machine = new BlockList();
      for (const own of this.#machineAddresses())
        this.#machine.addAddress(own, isIP(own) === 6 ? 'ipv6' : 'ipv4');
    }
    return this.#machine.check(address, family);
  }
}

function resolverOf(nameTimeoutMs: number, nameServers?: readonly string[]): NameResolver {
  const resolver = new Resolver({ timeout: nameTimeoutMs, tries: 2 });
  if (nameServers !== undefined) resolver.setServers(nameServers);
  return resolver;
}

function addressesOfInterfaces(): readonly string[] {
  const interfaces = Object.values(networkInterfaces());
  return interfaces.flatMap((addresses = []) => addresses.map(({ address }) => address));
}

async function foundBy(
  question: Promise<readonly string[]>,
  family: number,
): Promise<readonly LookupAddress[]> {
  try {
    return (await question).map((address) => ({ address, family }));
  } catch {
    return [];
  }
}

/** Such names mean this machine, whatever a name server says of them (RFC 6761, section 6.3). */
function isLocalhost(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}
