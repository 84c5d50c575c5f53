// IdentitySecrets: the secrets with the certificates that the control plane makes, of services and of the gateway. What a secret should be follows from the
// secret that is there, the authority and the clock, and nothing is stored but a digest of each leaf.
//
// Invariants
// I1  A secret whose certificate is good is left as it is.
// I2  A private key is nowhere but in its secret, and in the memory of the request that writes it. It is in no message.
import { createHash } from 'node:crypto';
import { serviceId } from '@svc/identity/spiffe-id';
import type { ServiceKey } from '@svc/client';
import type { IdentityAuthority } from '../authorities/identity-authority.ts';
import { IdentityRenewal } from '../authorities/identity-renewal.ts';
import type { KubeObject } from './api/kube-object.ts';
import { identityIn, serviceIdentitySecret, withIdentity } from './manifests/identity-secret.ts';
import type { Manifest } from './manifests/manifest.ts';

/** A secret, and the SPIFFE ID that its certificate has to name. */
export interface IdentityOwner {
  /** The secret without its data. */
  readonly secret: Manifest;
  readonly id: string;
}

export interface RenewedSecret {
  /** The secret to apply; undefined: the one that is there is good. */
  readonly manifest: Manifest | undefined;
  /** The time at which the secret may have to be another one, in milliseconds since 1970. */
  readonly renewAtMs: number;
}

export interface IdentitySecretsOptions {
  readonly authority: IdentityAuthority;
  readonly trustDomain: string;
  /** Lifetime of an identity, in milliseconds. */
  readonly lifetimeMs: number;
  readonly clock: { nowMs(): number };
}

export class IdentitySecrets {
  readonly #options: IdentitySecretsOptions;
  readonly #renewal: IdentityRenewal;

  constructor(options: IdentitySecretsOptions) {
    this.#options = options;
    this.#renewal = new IdentityRenewal(options);
  }

  /** Differs after the authority has changed, when all secrets have to be looked at again. */
  get revision(): string {
    const { authority, clock } = this.#options;
    const parts = [authority.trusted(clock.nowMs()), authority.certificate];
    return createHash('sha256').update(JSON.stringify(parts)).digest('base64');
  }

  ofService(key: ServiceKey): IdentityOwner {
    const id = serviceId(this.#options.trustDomain, key);
    return { secret: serviceIdentitySecret(key), id };
  }

  /** Rejects if the authority issues nothing. `found`: the secret that is there. */
  async renewed(
    { secret, id }: IdentityOwner,
    found: KubeObject | undefined,
  ): Promise<RenewedSecret> {
    const { texts, isChanged, renewAtMs } = await this.#renewal.renewed(
      found && identityIn(found),
      id,
    );
    return { manifest: isChanged ? withIdentity(secret, texts) : undefined, renewAtMs };
  }
}
