// KnownServices: the listed services, and for a while those that have ended, so that the user sees the end of a
// service. The functions are pure.
import type { ListedService } from '@svc/contract';

export interface KnownService extends ListedService {
  /** When the service was first missing or gone in a list, in milliseconds since 1970; undefined while it runs. */
  readonly endedMs: number | undefined;
}

/** Time for which a service is displayed after its end. */
const GONE_SHOWN_MS = 10_000;

/**
 * Merges a new list into the known services, without those that ended GONE_SHOWN_MS ago or earlier. The result is
 * sorted by name; under one name, the oldest is first.
 */
export function knownServices(
  known: readonly KnownService[],
  listed: readonly ListedService[],
  nowMs: number,
): KnownService[] {
  const before = new Map(known.map((service) => [service.instanceId, service]));
  const now = new Map<string, KnownService>();
  for (const service of listed) {
    const endedMs =
      service.state === 'running' ? undefined : (before.get(service.instanceId)?.endedMs ?? nowMs);
    now.set(service.instanceId, { ...service, endedMs });
  }
  for (const [instanceId, service] of before)
    if (!now.has(instanceId))
      now.set(instanceId, { ...service, state: 'gone', endedMs: service.endedMs ?? nowMs });
  return [...now.values()]
    .filter(({ endedMs }) => endedMs === undefined || nowMs - endedMs < GONE_SHOWN_MS)
    .toSorted((a, b) => a.name.localeCompare(b.name) || a.startedAt.localeCompare(b.startedAt));
}

/** Returns the running service that has replaced an ended one: the newest with the same name. */
export function successor(
  services: readonly KnownService[],
  name: string,
): KnownService | undefined {
  return services
    .filter((service) => service.name === name && service.state === 'running')
    .toSorted((a, b) => b.startedAt.localeCompare(a.startedAt))[0];
}

/** Returns the only running service; undefined if there are several or none. */
export function soleService(services: readonly KnownService[]): KnownService | undefined {
  const running = services.filter(({ state }) => state === 'running');
  return running.length === 1 ? running[0] : undefined;
}

/** Returns announcements for a screen reader: 'cart started', 'cart ended'. */
export function comingsAndGoings(
  before: readonly KnownService[],
  after: readonly KnownService[],
): string[] {
  const running = (services: readonly KnownService[]) =>
    new Map(services.filter(({ state }) => state === 'running').map((s) => [s.instanceId, s.name]));
  const [old, now] = [running(before), running(after)];
  return [
    ...[...now].filter(([id]) => !old.has(id)).map(([, name]) => `${name} started`),
    ...[...old].filter(([id]) => !now.has(id)).map(([, name]) => `${name} ended`),
  ];
}
