// ShardSections are the sections of the settings that a shard has.
import type { ConsumerSettings } from '../consumers/consumer-settings.ts';
import type { CallSettings } from '../service-calls/call-settings.ts';
import type { EngineLimits } from '../engine/engine-limits.ts';
import type { TimerSettings } from '../engine/timer-settings.ts';
import type { HostingSettings } from '../hosting/guest-source.ts';
import type { CorsSettings } from '../http/cors-settings.ts';
import type { HttpSettings } from '../http/http-settings.ts';
import type { LogLimits } from '@svc/kit/log-limits';
import type { AuthSection } from '@svc/tokens/auth-section';
import type { ViewLimits } from '@svc/model/view-limits';

export interface ShardSections extends HostingSettings {
  readonly http: HttpSettings;
  readonly 'http.cors': CorsSettings;
  readonly engine: EngineLimits;
  readonly timers: TimerSettings;
  readonly views: ViewLimits;
  readonly consumers: ConsumerSettings;
  readonly calls: CallSettings;
  readonly auth: AuthSection;
  readonly log: LogLimits;
  /** `ringCapacity`: maximum number of spans that the shard keeps. */
  readonly observability: { readonly ringCapacity: number };
}
