// DnsFinder: finds the instances of a service in a cluster. The SRV record of the service's port `http` gives names and the
// port, and each name its addresses.
//
// Invariants: a service is looked up once at a time, however many requests ask for it. Answers are remembered for their TTL
// within bounds, and the number of remembered services and of lookups at the same time is limited. If the name server
// fails or too many lookups run, the last answer is used for a while: callers check the identity of whoever listens at an
// address.
import { clusterHost, type ServiceKey, type ServiceReference } from '@svc/client';
import { serviceAuthority } from './authority.ts';
import type { DnsResolver, ServiceRecord } from './dns-resolver.ts';
import {
  ADDRESSES_MAX,
  notFound,
  type FoundService,
  type InstanceAddress,
  type ServiceFinder,
} from './service-finder.ts';

export interface DnsFinderLimits {
  /** Bounds of the time for which an answer is remembered, in milliseconds. */
  readonly rememberedMsMin: number;
  readonly rememberedMsMax: number;
  /** Time for which it is remembered that a service does not exist, in milliseconds. */
  readonly absentMs: number;
  /** Time for which an old answer is used while the name server fails or too many lookups run, in milliseconds. */
  readonly staleMsMax: number;
  /** Number of remembered services. */
  readonly servicesMax: number;
  /** Number of lookups at the same time. */
  readonly lookupsMax: number;
}

export const DNS_FINDER_LIMITS: DnsFinderLimits = {
  rememberedMsMin: 1000,
  rememberedMsMax: 30_000,
  absentMs: 1000,
  staleMsMax: 300_000,
  servicesMax: 1000,
  lookupsMax: 100,
};

export interface DnsFinderOptions {
  readonly resolver: DnsResolver;
  /** Project of `<service>` without a project. */
  readonly project: string;
  readonly limits: DnsFinderLimits;
  /** Monotonic time in milliseconds. */
  readonly now: () => number;
  /** Number from 0 up to but not including 1. */
  readonly random: () => number;
  /** Receives a line when a name server fails. */
  readonly onFailure: (service: ServiceKey, reason: string) => void;
}

interface Remembered {
  readonly found: FoundService;
  readonly validUntilMs: number;
  /** Until then the answer is used if a new lookup fails or cannot begin. */
  readonly usableUntilMs: number;
}

/** Names of one service that are resolved to addresses; further SRV records are ignored. */
const NAMES_MAX = 16;

export class DnsFinder implements ServiceFinder {
  readonly #options: DnsFinderOptions;
  /** The least recently remembered first. */
  readonly #remembered = new Map<string, Remembered>();
  readonly #lookups = new Map<string, Promise<FoundService>>();

  constructor(options: DnsFinderOptions) {
    this.#options = options;
  }

  async find({
    service,
    project = this.#options.project,
  }: ServiceReference): Promise<FoundService> {
    const key = { service, project };
    const host = clusterHost(key);
    const remembered = this.#remembered.get(host);
    if (remembered !== undefined && this.#options.now() < remembered.validUntilMs)
      return remembered.found;
    const running = this.#lookups.get(host);
    if (running !== undefined) return running;
    if (this.#lookups.size >= this.#options.limits.lookupsMax)
      return this.#stillUsable(remembered) ?? notFound('too many lookups at the same time');
    const lookup = this.#lookUp(key, host, remembered).finally(() => this.#lookups.delete(host));
    this.#lookups.set(host, lookup);
    return lookup;
  }

  close(): void {
    this.#options.resolver.cancel();
  }

  /** Returns the service that an old answer found, unless the answer is too old. */
  #stillUsable(remembered: Remembered | undefined): FoundService | undefined {
    const isUsable =
      remembered?.found.kind === 'found' && this.#options.now() < remembered.usableUntilMs;
    return isUsable ? remembered.found : undefined;
  }

  async #lookUp(
    key: ServiceKey,
    host: string,
    before: Remembered | undefined,
  ): Promise<FoundService> {
    const { now, limits, onFailure } = this.#options;
    try {
      const { found, ttlMs } = await this.#ask(host);
      this.#remember(host, found, ttlMs);
      return found;
    } catch (error) {
      const reason = (error as NodeJS.ErrnoException).code ?? String(error);
      onFailure(key, reason);
      // The next lookup waits, so that a failing name server is not asked for each request.
      const found = this.#stillUsable(before) ?? notFound(`the name server failed (${reason})`);
      this.#put(host, {
        found,
        validUntilMs: now() + limits.absentMs,
        usableUntilMs: before?.usableUntilMs ?? 0,
      });
      return found;
    }
  }

  async #ask(host: string): Promise<{ readonly found: FoundService; readonly ttlMs: number }> {
    const { resolver, random, limits } = this.#options;
    const records = await resolver.services(`_http._tcp.${host}`);
    const targets = ordered(records, random).slice(0, NAMES_MAX);
    const first = targets[0];
    if (first === undefined)
      return { found: notFound('it has no port http in DNS'), ttlMs: limits.absentMs };
    const resolved = await Promise.all(
      targets.map(async ({ name, port }) =>
        (await resolver.addresses(name)).map(({ address, ttl }) => ({ host: address, port, ttl })),
      ),
    );
    const all = resolved.flat().slice(0, ADDRESSES_MAX);
    if (all.length === 0)
      return { found: notFound('none of its instances has an address'), ttlMs: limits.absentMs };
    const addresses: readonly InstanceAddress[] = all.map((one) => ({
      host: one.host,
      port: one.port,
    }));
    const authority = serviceAuthority(host, first.port, 'https');
    const ttlMs = Math.min(...all.map(({ ttl }) => ttl)) * 1000;
    return { found: { kind: 'found', authority, addresses }, ttlMs };
  }

  #remember(host: string, found: FoundService, ttlMs: number): void {
    const { now, limits } = this.#options;
    const { rememberedMsMin, rememberedMsMax } = limits;
    const validMs =
      found.kind === 'found'
        ? Math.min(Math.max(ttlMs, rememberedMsMin), rememberedMsMax)
        : limits.absentMs;
    this.#put(host, {
      found,
      validUntilMs: now() + validMs,
      usableUntilMs: now() + limits.staleMsMax,
    });
  }

  #put(host: string, remembered: Remembered): void {
    this.#remembered.delete(host);
    this.#remembered.set(host, remembered);
    if (this.#remembered.size <= this.#options.limits.servicesMax) return;
    const [oldest] = this.#remembered.keys();
    this.#remembered.delete(oldest!);
  }
}

/** Orders records by priority, and those of one priority by chance according to their weight (RFC 2782). */
function ordered(
  records: readonly ServiceRecord[],
  random: () => number,
): readonly ServiceRecord[] {
  const keyed = records
    .filter(({ name, port }) => name !== '' && name !== '.' && port > 0)
    // A weighted order by chance: the smaller the key, the earlier (Efraimidis and Spirakis).
    .map((record) => ({ record, key: -Math.log(1 - random()) / Math.max(record.weight, 0.001) }));
  return keyed
    .toSorted((a, b) => a.record.priority - b.record.priority || a.key - b.key)
    .map(({ record }) => record);
}
