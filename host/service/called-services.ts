// ServicesOnDemand: the other services that the handlers of a shard call. The code of the calls is loaded with the first one, since
// most services call none.
import type { CallSettings } from '../service-calls/call-settings.ts';
import type { ServiceNetwork } from '../service-calls/open-caller.ts';
import type { ServiceCaller } from '../service-calls/service-caller.ts';
import {
  type CalledServices,
  type ServiceResponse,
  serviceCallDenied,
} from '@svc/model/service-call';
import type { ServiceLog } from './service-log.ts';

export interface ServicesOnDemandOptions {
  readonly settings: CallSettings;
  /** Undefined: the service is deployed and has no identity, so it calls no others. */
  readonly network: ServiceNetwork | undefined;
  readonly log: Pick<ServiceLog, 'write'>;
}

export class ServicesOnDemand implements CalledServices {
  readonly perHandlerMax: number;
  readonly #options: ServicesOnDemandOptions;
  #caller: Promise<ServiceCaller> | undefined;

  constructor(options: ServicesOnDemandOptions) {
    this.perHandlerMax = options.settings.perHandlerMax;
    this.#options = options;
  }

  async request(...request: Parameters<CalledServices['request']>): Promise<ServiceResponse> {
    const { network, settings, log } = this.#options;
    if (network === undefined)
      throw serviceCallDenied(
        'this service is deployed without an identity (svc.identity.*), by which others know who calls',
      );
    this.#caller ??= import('../service-calls/open-caller.ts').then(({ openCaller }) =>
      openCaller({
        network,
        settings,
        warn: (message, fields) => log.write('warn', message, fields),
      }),
    );
    return (await this.#caller).request(...request);
  }

  /** Closes the connections. No handler runs any more. */
  async close(): Promise<void> {
    (await this.#caller)?.close();
  }
}
