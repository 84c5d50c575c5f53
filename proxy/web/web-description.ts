// WebDescription: how the observability endpoint describes a web-hosted service, which has no components and declares no
// routes. Everything else that may be asked of a service with components is answered with 404.
import type { Mount } from '@svc/client';
import type { ServiceDescription } from '@svc/contract';
import { WEB_PROTOCOL } from '@svc/client';
import { type ObservedAnswer, problem, shown } from '@svc/kit/observed-answer';
import type { ProcessState } from '@svc/kit/supervised-command';

export interface DescribedWebService extends Pick<
  ServiceDescription,
  'name' | 'instanceId' | 'runtimeVersion' | 'startedAt'
> {
  readonly url: string;
  readonly mounts: readonly Mount[];
  readonly process: ProcessState;
}

export function webDescription({
  url,
  mounts,
  process: state,
  ...service
}: DescribedWebService): ServiceDescription {
  return {
    ...service,
    pid: process.pid,
    hosting: 'process',
    protocol: WEB_PROTOCOL,
    process: state,
    mounts: mounts.map(({ path, service: mounted }) => ({ path, service: mounted })),
    control: null,
    instances: [{ address: url, shards: 0 }],
    components: [],
    routes: [],
    types: {},
    module: null,
    dev: false,
  };
}

/** Answers a request of the observability endpoint. `target`: the path and query of its URL. */
export function observedWeb(describe: () => ServiceDescription, target: string): ObservedAnswer {
  if (target === '/observability/service') return shown(describe());
  return problem(
    404,
    'A web-hosted service has a description only, at /observability/service: it has no components, and svc records ' +
      'no traces of it.',
  );
}
