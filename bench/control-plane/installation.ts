// Installation: the identity provider and the data folders of control planes that are measured. The folder with services is filled
// when it is first needed, and all measurements share it, one after the other.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IdentityProvider } from '../../test/support/identity-provider/identity-provider.ts';
import { startControlPlane, type Service } from '../service.ts';
import { fillFolder, OWNER } from './filled-folder.ts';

/** Longer than all measurements take. */
const TOKEN_LIFETIME_S = 14_400;

export class Installation {
  readonly provider: IdentityProvider;
  /** Number of services in the filled folder. */
  readonly services: number;
  readonly #parent = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  #filled: Promise<string> | undefined;
  #token: Promise<string> | undefined;

  private constructor(provider: IdentityProvider, services: number) {
    this.provider = provider;
    this.services = services;
  }

  static async open(services: number): Promise<Installation> {
    return new Installation(await IdentityProvider.start(), services);
  }

  /** Path of a folder, which is removed at the end. */
  folder(name: string): string {
    return join(this.#parent, name);
  }

  /** Token of the owner of the services. */
  ownerToken(): Promise<string> {
    this.#token ??= this.token(OWNER);
    return this.#token;
  }

  token(subject: string): Promise<string> {
    return this.provider.issue({ subject, lifetimeS: TOKEN_LIFETIME_S });
  }

  /** Starts a control plane over the services. */
  async start(processors?: string): Promise<Service> {
    this.#filled ??= this.#fill();
    return startControlPlane(this.provider, await this.#filled, processors);
  }

  /** Starts a control plane without anything in it. */
  startEmpty(name: string): Promise<Service> {
    return startControlPlane(this.provider, this.folder(name));
  }

  async close(): Promise<void> {
    await this.provider.stop();
    rmSync(this.#parent, { recursive: true, force: true });
  }

  async #fill(): Promise<string> {
    const folder = this.folder('filled');
    await fillFolder(folder, this.services);
    return folder;
  }
}
