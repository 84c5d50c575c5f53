// IdentitySection: the settings svc.kubernetes.* of the certificates that the control plane makes, with their defaults and ranges.
import type { Range } from '@svc/kit/settings-reader';

export interface IdentitySection {
  /** Lifetime of the certificate by which a service, or the gateway, proves who it is, in milliseconds. It is renewed after half of it. */
  readonly identityLifetimeMs: number;
  /** Time in which all programs trust another authority before certificates of it are shown to them, in milliseconds. */
  readonly authoritySettleMs: number;
  /** Interval at which the authority and the gateway's certificate are looked at, in milliseconds. */
  readonly certificatePollMs: number;
}

/** A service is looked at every five minutes, and a node takes two to replace the files of a mounted secret. */
export const IDENTITY_DEFAULTS: { readonly [Key in keyof IdentitySection]: IdentitySection[Key] } =
  {
    identityLifetimeMs: 86_400_000,
    authoritySettleMs: 900_000,
    certificatePollMs: 60_000,
  };

export const IDENTITY_RANGES: { readonly [Key in keyof IdentitySection]: Range } = {
  identityLifetimeMs: [3_600_000, 2_592_000_000],
  authoritySettleMs: [0, 86_400_000],
  certificatePollMs: [100, 3_600_000],
};

/** The authority whose certificates services get. */
export type AuthorityChoice =
  /** Its key is in a file that the control plane makes. */
  | {
      readonly kind: 'own';
      /** Absolute path of the file, such as `identities.json`. */
      readonly file: string;
      /** True: the operator asks for another authority. */
      readonly isNew: boolean;
    }
  /** Its certificate and its key are `tls.crt` and `tls.key` of a folder, such as a mounted secret. */
  | {
      readonly kind: 'given';
      /** Absolute path of the folder. */
      readonly folder: string;
    };
