// ReceiverAddresses: to which addresses a delivery may go. URLs come from tenants, and answers of name servers from anybody: neither may
// make this machine send requests into its own network.
//
// Invariants
// A1  What was checked is what is connected to: a name is resolved once for each connection, and the connection goes to the addresses found.
// A2  One address that may not be contacted blocks its name, whatever the other addresses are.
// A3  Names are resolved by c-ares, since the threads of the system's resolver are so few that one dead name server would stop every
//     other receiver. So the file of hosts of the machine does not count.
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from '@svc/addresses/public-address';
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
}

const NETWORK = /^([^/]+)\/(\d{1,3})$/;
const PORT_MAX_OF_SYSTEM = 1023;
const WEB_PORTS: ReadonlySet<number> = new Set([80, 443]);
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

export class ReceiverAddresses {
  readonly #resolver: Resolver;
  readonly #networks = new BlockList();
  readonly #domains: readonly string[];
  readonly #addressesMax: number;

  constructor({ admitted, addressesMax, nameTimeoutMs, nameServers }: ReceiverAddressesOptions) {
    this.#resolver = new Resolver({ timeout: nameTimeoutMs, tries: 2 });
    if (nameServers !== undefined) this.#resolver.setServers(nameServers);
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

  /** A family whose question fails has no addresses: the other one may. */
  async #resolve(hostname: string): Promise<readonly LookupAddress[]> {
    const [ipv4, ipv6] = await Promise.all([
      this.#resolver.resolve4(hostname).catch(() => []),
      this.#resolver.resolve6(hostname).catch(() => []),
    ]);
    return [
      ...ipv4.map((address) => ({ address, family: 4 })),
      ...ipv6.map((address) => ({ address, family: 6 })),
    ];
  }

  #isAdmitted(address: string): boolean {
    return (
      isPublicAddress(address) ||
      this.#networks.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
    );
  }
}

/** Such names mean this machine, whatever a name server says of them (RFC 6761, section 6.3). */
function isLocalhost(hostname: string): boolean {
  return hostname === 'localhost' || hostname.endsWith('.localhost');
}
