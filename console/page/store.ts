// Store: the state that all screens share: the current view, the list of services, whether the console's own server
// answers, and the announcement for screen readers.
import { computed, signal } from '@preact/signals';
import type { ServiceList } from '@svc/contract';
import { getJson } from './api.ts';
import { pause } from './loaded.ts';
import { hashOf, isOfService, ofInstance, viewOf, type TracesView, type View } from './route.ts';
import type { DeliveriesView } from './webhooks-route.ts';
import {
  comingsAndGoings,
  knownServices,
  successor,
  type KnownService,
} from './view/known-services.ts';

const LIST_EVERY_MS = 2000;

export const view = signal<View>({ screen: 'services' });
export const services = signal<readonly KnownService[]>([]);
/** Last response with the list of services; undefined until there is one. */
export const serviceList = signal<ServiceList | undefined>(undefined);
/** When the console's own server stopped answering, in milliseconds since 1970; undefined while the server answers. */
export const consoleEndedMs = signal<number | undefined>(undefined);
/** Last restart that the page has followed: the new instance, and when it started, in milliseconds since 1970. */
export const followed = signal<{ readonly instanceId: string; readonly atMs: number } | undefined>(
  undefined,
);
/** Instance id of the selected service if `svc dev` runs it, else undefined. */
export const developed = signal<string | undefined>(undefined);
/** Instance id of the selected service if it is web-hosted, else undefined. */
export const webHosted = signal<string | undefined>(undefined);
/** Filter and page of the list of traces that was displayed last, to which a trace links back; undefined: none was. */
export const lastTraces = signal<TracesView | undefined>(undefined);
/** Filter and page of the log of deliveries that was displayed last, to which a delivery links back; undefined: none was. */
export const lastDeliveries = signal<DeliveriesView | undefined>(undefined);
/** Current time with a resolution of one second, for everything on the page that counts time. */
export const nowMs = signal(Date.now());
/** Text that screen readers announce. */
export const announcement = signal('');

/** Instance id → name, also for ended instances, so that their successors are found. */
const names = new Map<string, string>();

export const currentService = computed<KnownService | undefined>(() => {
  const now = view.value;
  if (!isOfService(now)) return undefined;
  return services.value.find((service) => service.instanceId === now.instanceId);
});

/** Returns the name of an instance, even if it has ended. */
export function nameOfInstance(instanceId: string): string | undefined {
  return names.get(instanceId);
}

export function announce(text: string): void {
  // Screen readers announce a text only if it differs from the one before.
  announcement.value = announcement.value === text ? `${text}\u00a0` : text;
}

/** Opens a view. `replaces`: true if the view replaces the current entry of the browser's history. */
export function go(next: View, replaces = false): void {
  const hash = hashOf(next);
  if (replaces) history.replaceState(null, '', hash);
  else if (hash !== location.hash) history.pushState(null, '', hash);
  view.value = viewOf(hash);
}

export function followAddress(): void {
  view.value = viewOf(location.hash);
}

export async function watchServices(stop: AbortSignal): Promise<void> {
  while (!stop.aborted) {
    await lookOnce(stop);
    await pause(LIST_EVERY_MS, stop);
  }
}

async function lookOnce(stop: AbortSignal): Promise<void> {
  try {
    const list = await getJson<ServiceList>('/api/services', stop);
    consoleEndedMs.value = undefined;
    const before = services.value;
    const isFirst = serviceList.value === undefined;
    services.value = knownServices(before, list.services, Date.now());
    serviceList.value = list;
    for (const service of list.services) names.set(service.instanceId, service.name);
    if (!isFirst) {
      const announcements = comingsAndGoings(before, services.value);
      if (announcements.length > 0) announce(announcements.join(', '));
    }
    followSuccessor();
  } catch {
    if (!stop.aborted) consoleEndedMs.value ??= Date.now();
  }
}

/** Opens the same view of the service that has replaced the selected one, if the selected one has ended. */
function followSuccessor(): void {
  const now = view.value;
  if (!isOfService(now) || currentService.value?.state === 'running') return;
  const name = names.get(now.instanceId);
  const next = name === undefined ? undefined : successor(services.value, name);
  if (next === undefined) return;
  followed.value = { instanceId: next.instanceId, atMs: new Date(next.startedAt).getTime() };
  go(ofInstance(now, next.instanceId), true);
}
