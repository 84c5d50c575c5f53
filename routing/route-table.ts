// RouteTable: which instances serve which service, and which hostnames lead to it. A table is a value that is replaced as a whole.
//
// Invariants
// - A key is there once, and so is a hostname.
// - Each later table of an orchestrator has a greater version.
import { hostnameProblem } from '@svc/client';
import { isIP } from 'node:net';
import { ROUTING_LIMITS } from './routing-limits.ts';

/** `serving` also with no instance that is ready. */
export const SERVICE_STATES = ['serving', 'paused', 'suspended'] as const;
export type ServiceState = (typeof SERVICE_STATES)[number];

export interface RoutedInstance {
  /** Name of the instance, unique within its service. */
  readonly name: string;
  /** IP address. */
  readonly address: string;
  readonly port: number;
}

export interface RoutedService {
  /** `<project>/<service>`. */
  readonly key: string;
  readonly state: ServiceState;
  /** SPIFFE ID that its instances have to prove. */
  readonly identity: string;
  /** Hostnames in lower case; none: the service is not exposed. */
  readonly hostnames: readonly string[];
  /** Instances that are ready. */
  readonly instances: readonly RoutedInstance[];
}

export interface RouteTable {
  /** From 0; 0 is the empty table. */
  readonly version: number;
  readonly services: readonly RoutedService[];
}

/** The difference between two tables. */
export interface RouteUpdate {
  /** Version of the table that it applies to. */
  readonly from: number;
  readonly version: number;
  /** Services that are new or different. */
  readonly changed: readonly RoutedService[];
  /** Keys of services that are gone. */
  readonly removed: readonly string[];
}

export const EMPTY_TABLE: RouteTable = { version: 0, services: [] };

const KEY = /^[a-z][a-z0-9-]{0,56}\/[a-z][a-z0-9-]{0,62}$/;
const INSTANCE_NAME = /^[a-z0-9][a-z0-9-]{0,127}$/;
const IDENTITY = /^spiffe:\/\/[\x21-\x7e]{1,2000}$/;

/** Returns the table, or what is wrong with it. */
export function parseRouteTable(value: unknown): RouteTable | { readonly problem: string } {
  if (!hasOnly(value, ['version', 'services'])) return { problem: 'it is no table' };
  const { version, services } = value as unknown as RouteTable;
  if (!isVersion(version)) return { problem: 'its version is no number from 0 on' };
  const problem = servicesProblem(services) ?? repeatedProblem(services);
  return problem === undefined ? { version, services } : { problem };
}

/** Returns the update, or what is wrong with it. Whether it fits a table shows when it is applied. */
export function parseRouteUpdate(value: unknown): RouteUpdate | { readonly problem: string } {
  if (!hasOnly(value, ['from', 'version', 'changed', 'removed']))
    return { problem: 'it is no update' };
  const { from, version, changed, removed } = value as unknown as RouteUpdate;
  if (!isVersion(from) || !isVersion(version) || version <= from)
    return { problem: 'its versions are not in order' };
  if (!isListOf(removed, ROUTING_LIMITS.servicesMax, (key) => typeof key === 'string'))
    return { problem: 'its removed services are no list of keys' };
  const problem = servicesProblem(changed) ?? repeatedProblem(changed);
  return problem === undefined ? { from, version, changed, removed } : { problem };
}

export function updateBetween(before: RouteTable, after: RouteTable): RouteUpdate {
  const former = new Map(before.services.map((one) => [one.key, JSON.stringify(one)]));
  const keys = new Set(after.services.map(({ key }) => key));
  return {
    from: before.version,
    version: after.version,
    changed: after.services.filter((one) => former.get(one.key) !== JSON.stringify(one)),
    removed: [...former.keys()].filter((key) => !keys.has(key)),
  };
}

/** Returns the table after the update; undefined if the update does not belong to this table. */
export function withUpdate(table: RouteTable, update: RouteUpdate): RouteTable | undefined {
  if (table.version !== update.from) return undefined;
  const services = new Map(table.services.map((service) => [service.key, service]));
  for (const key of update.removed) services.delete(key);
  for (const service of update.changed) services.set(service.key, service);
  const list = [...services.values()];
  const fits = list.length <= ROUTING_LIMITS.servicesMax && repeatedProblem(list) === undefined;
  return fits ? { version: update.version, services: list } : undefined;
}

/** Finds services of one table. */
export class RouteIndex {
  readonly #byKey: ReadonlyMap<string, RoutedService>;
  readonly #byHostname: ReadonlyMap<string, RoutedService>;

  constructor({ services }: RouteTable) {
    this.#byKey = new Map(services.map((service) => [service.key, service]));
    this.#byHostname = new Map(
      services.flatMap((service) => service.hostnames.map((name) => [name, service] as const)),
    );
  }

  service(key: string): RoutedService | undefined {
    return this.#byKey.get(key);
  }

  /** `hostname`: in lower case, without a port. */
  exposedAt(hostname: string): RoutedService | undefined {
    return this.#byHostname.get(hostname);
  }
}

function servicesProblem(services: unknown): string | undefined {
  if (!isListOf(services, ROUTING_LIMITS.servicesMax, () => true))
    return `its services are no list of at most ${ROUTING_LIMITS.servicesMax}`;
  for (const [index, service] of services.entries()) {
    const problem = serviceProblem(service);
    if (problem !== undefined) return `services/${index} ${problem}`;
  }
  return undefined;
}

function serviceProblem(value: unknown): string | undefined {
  if (!hasOnly(value, ['key', 'state', 'identity', 'hostnames', 'instances']))
    return 'is no service';
  const { key, state, identity, hostnames, instances } = value;
  if (typeof key !== 'string' || !KEY.test(key)) return 'has a key that is none';
  if (!SERVICE_STATES.some((known) => known === state)) return 'has a state that is none';
  if (typeof identity !== 'string' || !IDENTITY.test(identity))
    return 'has an identity that is no SPIFFE ID';
  if (!isListOf(hostnames, ROUTING_LIMITS.hostnamesMax, isHostname))
    return 'has hostnames that are none, or too many';
  if (!isListOf(instances, ROUTING_LIMITS.instancesMax, isInstance))
    return 'has instances that are none, or too many';
  return undefined;
}

function isHostname(value: unknown): boolean {
  return typeof value === 'string' && hostnameProblem(value) === undefined;
}

function isInstance(value: unknown): boolean {
  if (!hasOnly(value, ['name', 'address', 'port'])) return false;
  const { name, address, port } = value;
  return (
    typeof name === 'string' &&
    INSTANCE_NAME.test(name) &&
    typeof address === 'string' &&
    isIP(address) !== 0 &&
    Number.isInteger(port) &&
    (port as number) >= 1 &&
    (port as number) <= 65_535
  );
}

function repeatedProblem(services: readonly RoutedService[]): string | undefined {
  const all = [
    ...services.map(({ key }) => key),
    ...services.flatMap(({ hostnames }) => hostnames),
    ...services.flatMap(({ key, instances }) => instances.map(({ name }) => `${key} ${name}`)),
  ];
  const found = new Set<string>();
  for (const name of all) {
    if (found.has(name)) return `has ${name} twice`;
    found.add(name);
  }
  return undefined;
}

function hasOnly<Key extends string>(
  value: unknown,
  keys: readonly Key[],
): value is Readonly<Record<Key, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const found = Object.keys(value);
  return found.length === keys.length && keys.every((key) => found.includes(key));
}

function isListOf(
  value: unknown,
  lengthMax: number,
  isEntry: (entry: unknown) => boolean,
): value is readonly unknown[] {
  return Array.isArray(value) && value.length <= lengthMax && value.every((one) => isEntry(one));
}

function isVersion(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
