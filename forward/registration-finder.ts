// RegistrationFinder: finds the services that run on a developer's machine. They have registered in a folder, and each
// answers at its introspection endpoint with the address at which it takes requests. All services of the machine belong
// to one project, so a project that a call names is ignored.
//
// Invariants: a program is believed to be a service only after it has answered as such. A service is looked for once at a
// time, however many requests ask for it.
import type { ServiceReference } from '@svc/client';
import { describe } from '@svc/kit/described-service';
import { loopbackAddress } from '@svc/kit/loopback-address';
import { readRegistrations } from '@svc/kit/registrations';
import { serviceAuthority } from './authority.ts';
import { notFound, type FoundService, type ServiceFinder } from './service-finder.ts';

export interface RegistrationFinderOptions {
  /** Folder of registrations. */
  readonly folder: string;
  /** Monotonic time in milliseconds. */
  readonly now: () => number;
}

/** Time for which an answer is remembered, in milliseconds: a restarted service has another port soon. */
const REMEMBERED_MS = 500;
/** Time in which a service has to answer what it is, in milliseconds. */
const DEADLINE_MS = 2000;
/** Instances of one name that are asked; the latest ones. */
const ASKED_MAX = 10;
const REMEMBERED_MAX = 1000;

export class RegistrationFinder implements ServiceFinder {
  readonly #options: RegistrationFinderOptions;
  readonly #remembered = new Map<string, { readonly at: number; readonly found: FoundService }>();
  readonly #lookups = new Map<string, Promise<FoundService>>();

  constructor(options: RegistrationFinderOptions) {
    this.#options = options;
  }

  async find({ service }: ServiceReference): Promise<FoundService> {
    const remembered = this.#remembered.get(service);
    if (remembered !== undefined && this.#options.now() - remembered.at < REMEMBERED_MS)
      return remembered.found;
    const running = this.#lookups.get(service);
    if (running !== undefined) return running;
    const lookup = this.#lookUp(service).finally(() => this.#lookups.delete(service));
    this.#lookups.set(service, lookup);
    return lookup;
  }

  /** Forgets what it has found: a service that does not listen any more may have started anew. */
  forget(service: string): void {
    this.#remembered.delete(service);
  }

  close(): void {
    this.#remembered.clear();
  }

  async #lookUp(service: string): Promise<FoundService> {
    const found = await this.#ask(service);
    if (this.#remembered.size >= REMEMBERED_MAX) this.#remembered.clear();
    // A service that is not there may start at any moment.
    if (found.kind === 'found') this.#remembered.set(service, { at: this.#options.now(), found });
    return found;
  }

  async #ask(service: string): Promise<FoundService> {
    const { registrations, problem } = await readRegistrations(this.#options.folder);
    if (problem !== null) return notFound(`the folder of registrations: ${problem}`);
    const named = registrations
      .filter(({ name }) => name === service)
      .toSorted((a, b) => (a.startedAt < b.startedAt ? 1 : -1))
      .slice(0, ASKED_MAX);
    if (named.length === 0) return notFound('no service of this name has registered');
    const described = await Promise.all(
      named.map(async (registration) => describe(registration, DEADLINE_MS)),
    );
    for (const one of described) {
      if (one.kind !== 'described') continue;
      for (const { address } of one.service.instances) {
        const found = address === null ? undefined : loopbackAddress(address);
        if (found === undefined) continue;
        const host = found.host.includes(':') ? `[${found.host}]` : found.host;
        const authority = serviceAuthority(host, found.port, 'http');
        return {
          kind: 'found',
          authority,
          takesAddressFromHost: one.service.hosting === 'process',
          addresses: [{ host: found.host, port: found.port }],
        };
      }
    }
    return notFound('it has registered, and does not listen');
  }
}
