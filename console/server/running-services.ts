// RunningServices: the running services of this machine: those that have registered and answer with the
// identity that they registered. It probes services only when `list` or `find` is called.
//
// Invariants:
// - A service is listed once its address has answered with the instance id of its file. So if another process has
//   the port now, that process is not listed as the service.
// - A listed service that ends stays in the list as gone for GONE_SHOWN_MS. A service that only answers late has not
//   ended.
import type { ListedService, ServiceList } from '@svc/contract';
import { describe } from '@svc/kit/described-service';
import { readRegistrations, type Registration } from '@svc/kit/registrations';
import { setTimeout as delay } from 'node:timers/promises';

interface Known {
  readonly registration: Registration;
  /** True: its file existed when the folder was last read. */
  isRegistered: boolean;
  /** True: it has answered, so it is listed; false again once it has been gone for longer than GONE_SHOWN_MS. */
  isShown: boolean;
  /** When the service was found to have ended, by `performance.now()`; undefined while it runs. */
  goneAtMs: number | undefined;
  /** Address of its HTTP server; null if it has none, or has not answered yet. */
  address: string | null;
  /** Problem of the service, as text for the user; null if there is none. */
  problem: string | null;
  /** Number of consecutive failed probes. */
  failures: number;
  /** When the next probe is due, by `performance.now()`. */
  dueAtMs: number;
  /** The running probe, if there is one. */
  probe: Promise<void> | undefined;
}

const PROBE_EVERY_MS = 2_000;
/** Longest pause between two probes of a file whose service did not answer. */
const PAUSE_MAX_MS = 30_000;
const PROBE_DEADLINE_MS = 2_000;
/** Maximum time that `list` waits for probes; what a slower service answers is in a later list. */
const LIST_WAITS_MS = 300;
/** Number of consecutive failed probes after which a listed service counts as gone, unless the last was only late. */
const FAILURES_UNTIL_GONE = 2;
/** Time for which a service stays in the list after its end. */
const GONE_SHOWN_MS = 10_000;

export class RunningServices {
  readonly #folder: string;
  readonly #known = new Map<string, Known>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  async list(): Promise<ServiceList> {
    const { registrations, problem } = await readRegistrations(this.#folder);
    const nowMs = performance.now();
    this.#take(registrations, nowMs);
    const probes = [...this.#known.values()].flatMap((known) => this.#probe(known, nowMs) ?? []);
    await Promise.race([Promise.all(probes), delay(LIST_WAITS_MS, undefined, { ref: false })]);
    const all = [...this.#known.values()];
    return {
      folder: this.#folder,
      services: all
        .filter(({ isShown }) => isShown)
        .map(listed)
        .toSorted(
          (a, b) => compare(a.name, b.name) || compare(a.startedAt, b.startedAt) || a.pid - b.pid,
        ),
      unanswered: all.filter(({ isShown }) => !isShown).length,
      problem,
    };
  }

  /**
   * Returns the registration of a listed service, gone or not; 'silent' for a registered service that is not listed
   * because it does not answer; undefined if there is none. Reads the folder first if the id is unknown: the user may
   * have opened a link before this process has listed any service.
   */
  async find(instanceId: string): Promise<Registration | 'silent' | undefined> {
    if (!this.#known.has(instanceId)) await this.list();
    const known = this.#known.get(instanceId);
    if (known === undefined) return undefined;
    // Until a program has answered as the service, it gets no other request: it may be any program.
    if (!known.isShown) await this.#probe(known, performance.now());
    return known.isShown ? known.registration : 'silent';
  }

  /** Updates the known services from the files that exist now. */
  #take(registrations: readonly Registration[], nowMs: number): void {
    const registered = new Map(registrations.map((one) => [one.instanceId, one]));
    for (const [instanceId, known] of this.#known) {
      known.isRegistered = registered.delete(instanceId);
      if (!known.isRegistered) end(known, nowMs);
      if (known.goneAtMs !== undefined && nowMs - known.goneAtMs > GONE_SHOWN_MS)
        known.isShown = false;
      if (!known.isRegistered && !known.isShown) this.#known.delete(instanceId);
    }
    for (const [instanceId, registration] of registered)
      this.#known.set(instanceId, {
        registration,
        isRegistered: true,
        isShown: false,
        goneAtMs: undefined,
        address: null,
        problem: null,
        failures: 0,
        dueAtMs: nowMs,
        probe: undefined,
      });
  }

  /** Starts a probe of the service if one is due. Returns the running probe; undefined if there is none. */
  #probe(known: Known, nowMs: number): Promise<void> | undefined {
    if (known.probe === undefined && known.isRegistered && nowMs >= known.dueAtMs)
      known.probe = look(known).finally(() => {
        known.probe = undefined;
      });
    return known.probe;
  }
}

/** Asks a service for its description, and updates what is known about the service. */
async function look(known: Known): Promise<void> {
  const found = await describe(known.registration, PROBE_DEADLINE_MS);
  const nowMs = performance.now();
  known.dueAtMs = nowMs + PROBE_EVERY_MS;
  if (found.kind === 'described') {
    if (!known.isRegistered) return;
    known.isShown = true;
    known.goneAtMs = undefined;
    known.failures = 0;
    known.address =
      found.service.instances.find(({ address }) => address !== null)?.address ?? null;
    known.problem = null;
    return;
  }
  known.failures += 1;
  if (!known.isShown)
    known.dueAtMs = nowMs + Math.min(PAUSE_MAX_MS, PROBE_EVERY_MS * 2 ** known.failures);
  if (found.kind === 'late')
    known.problem = `It did not answer within ${PROBE_DEADLINE_MS / 1000} s.`;
  else if (known.isShown && known.failures >= FAILURES_UNTIL_GONE) end(known, nowMs);
}

function end(known: Known, nowMs: number): void {
  known.goneAtMs ??= nowMs;
  known.problem = 'It has ended.';
}

function listed({ registration, goneAtMs, address, problem }: Known): ListedService {
  const { address: _connected, ...registered } = registration;
  return { ...registered, state: goneAtMs === undefined ? 'running' : 'gone', address, problem };
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
