// ProviderMetrics: the series by which an operator sees that the keys of the identity provider cannot be read.
import type { Metric } from '@svc/host';
import type { Subject } from '@svc/tokens/token-outcome';
import type { TokenVerifier } from '@svc/tokens/token-verifier';

const MS_PER_S = 1000;

/** `program`: what the names of the series begin with, such as `control_plane`. */
export function providerMetrics(
  program: string,
  keys: TokenVerifier<Subject>['keys'],
): readonly Metric[] {
  return [
    {
      name: `${program}_provider_readable`,
      type: 'gauge',
      help: 'Whether the keys of the identity provider could be read last: 1 or 0.',
      read: () => (keys.isReadable === undefined ? undefined : Number(keys.isReadable)),
    },
    {
      name: `${program}_provider_keys_age_seconds`,
      type: 'gauge',
      help: 'Time since the keys that tokens are judged by were read.',
      read: () => (keys.keysAgeMs === undefined ? undefined : keys.keysAgeMs / MS_PER_S),
    },
  ];
}
