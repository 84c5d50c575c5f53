// GatewayIdentity keeps the secret with the certificate of the gateway, in the namespace of the platform: it is made, renewed, and made again if somebody
// deletes it.
//
// Invariants
// G1  One check runs at a time, and a failure is tried again with the next one.
// G2  A secret of that name that is not managed by svc is left as it is.
import type { Clock } from '@svc/kit/clock';
import type { KubeClient } from './api/kube-client.ts';
import type { IdentityOwner, IdentitySecrets } from './identity-secrets.ts';
import { pathOf } from './manifests/manifest.ts';
import { isOwn } from './own-objects.ts';
import { withoutValues } from './secret-words.ts';

export interface GatewayIdentityOptions {
  readonly client: KubeClient;
  readonly identities: IdentitySecrets;
  readonly owner: IdentityOwner;
  /** Has changed files of the authority taken into use. */
  readonly refreshAuthority: () => Promise<unknown>;
  readonly pollMs: number;
  readonly clock: Clock;
  readonly onFailure: (error: unknown) => void;
}

export class GatewayIdentity implements AsyncDisposable {
  readonly #options: GatewayIdentityOptions;
  readonly #stopping = new AbortController();
  #cancelPause = () => {};
  #checking: Promise<void>;

  /** Begins the first check at once. */
  constructor(options: GatewayIdentityOptions) {
    this.#options = options;
    this.#checking = this.#keep();
  }

  /** Resolves once nothing more is written. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    this.#cancelPause();
    await this.#checking;
  }

  /** Never rejects. */
  async #keep(): Promise<void> {
    const { refreshAuthority, clock, pollMs, onFailure } = this.#options;
    const { signal } = this.#stopping;
    try {
      await refreshAuthority();
      await this.#renew(signal);
    } catch (error) {
      if (!signal.aborted) onFailure(error);
    }
    if (signal.aborted) return;
    this.#cancelPause = clock.after(pollMs, () => (this.#checking = this.#keep()));
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const { client, identities, owner } = this.#options;
    const { metadata } = owner.secret;
    const path = pathOf(owner.secret);
    const found = await client.get(path, signal);
    if (found !== undefined && !isOwn(found, metadata.labels))
      throw new Error(
        `the Secret ${metadata.name} in the namespace ${metadata.namespace} exists and is not managed by svc: rename or delete it, or choose another name for the one of the gateway`,
      );
    const { manifest } = await identities.renewed(owner, found);
    if (manifest === undefined) return;
    const uid = found?.metadata.uid;
    const object = { ...manifest, metadata: { ...manifest.metadata, ...(uid && { uid }) } };
    try {
      await client.apply(path, object, { force: found !== undefined, signal });
    } catch (error) {
      throw withoutValues(error, manifest);
    }
  }
}
