// PlatformTargets: where the requests for hostnames of the platform go: to programs on loopback.
import { ProcessTarget } from '@svc/forward/process-target';
import type { Target } from '@svc/forward/target';
import type { Sweep } from '@svc/http1';
import type { LoopbackAddress } from '@svc/kit/loopback-address';
import { answerToFailure } from './gateway-answers.ts';
import type { GatewaySection } from './gateway-section.ts';
import type { PlatformSettings } from './gateway-settings.ts';

export interface PlatformTargetsOptions {
  readonly platform: PlatformSettings;
  readonly section: GatewaySection;
  readonly sweep: Sweep;
}

/** Paths of the API that belong to the webhook service (document 3, "Endpoints"). */
const WEBHOOKS_PREFIX = '/api/platform/v1/';

export class PlatformTargets {
  readonly #byHostname: ReadonlyMap<string, ProcessTarget>;
  readonly #apiHostname: string;
  readonly #webhooks: ProcessTarget | undefined;

  constructor({ platform, section, sweep }: PlatformTargetsOptions) {
    const { byHostname, apiHostname, webhooks } = platform;
    const open = (address: LoopbackAddress): ProcessTarget =>
      new ProcessTarget({
        address,
        limits: section,
        sweep,
        answerTo: (failure) =>
          answerToFailure(failure, section.answerTimeoutMs, 'platform-not-listening'),
      });
    this.#byHostname = new Map(
      [...byHostname].map(([hostname, address]) => [hostname, open(address)]),
    );
    this.#apiHostname = apiHostname;
    this.#webhooks = webhooks === undefined ? undefined : open(webhooks);
  }

  /** Returns undefined for a hostname that is not the platform's. */
  find(hostname: string, path: string): Target | undefined {
    const isOfWebhooks = hostname === this.#apiHostname && path.startsWith(WEBHOOKS_PREFIX);
    return (isOfWebhooks ? this.#webhooks : undefined) ?? this.#byHostname.get(hostname);
  }

  close(): void {
    for (const target of this.#byHostname.values()) target.close();
    this.#webhooks?.close();
  }
}
