// ServiceDescription: how the observability endpoint describes a service, with the module's declarations and the
// address of the service.
import {
  type AccessRule,
  bearerOf,
  type ModuleDescriptor,
  routeTemplate,
  type ServiceDescription,
  type ServiceRoute,
} from '@svc/contract';

export interface DescribedService extends Pick<
  ServiceDescription,
  'name' | 'instanceId' | 'runtimeVersion' | 'startedAt' | 'pid' | 'dev'
> {
  /** Address of the service's HTTP server; undefined if it has none. */
  readonly url: string | undefined;
  readonly shards: number;
  /** Path of its control socket; undefined if it has none. */
  readonly control: string | undefined;
  readonly takesDevelopmentTokens: boolean;
  readonly fingerprint: string;
  readonly descriptor: ModuleDescriptor;
}

export function serviceDescription({
  url,
  shards,
  fingerprint,
  descriptor,
  control,
  takesDevelopmentTokens,
  ...service
}: DescribedService): ServiceDescription {
  const { sdk, types, entities } = descriptor;
  return {
    ...service,
    control: control ?? null,
    ...(takesDevelopmentTokens ? { developmentTokens: true } : {}),
    instances: [{ address: url ?? null, shards }],
    components: entities.map(({ component, commands, queries, state, event }) => ({
      component,
      kind: 'event-sourced-entity',
      commands: commands.map(({ name }) => ({ name })),
      queries,
      state: { manifest: state.manifest },
      event: { manifest: event.manifest },
    })),
    routes: serviceRoutes(descriptor),
    types,
    module: { fingerprint, sdk: `${sdk.name} ${sdk.version}` },
  };
}

export function serviceRoutes({ endpoints }: ModuleDescriptor): ServiceRoute[] {
  return endpoints.flatMap((endpoint) =>
    endpoint.routes.map((route) => {
      const { method, path, handler, parameters, query, body, reply, access } = route;
      return {
        method,
        path: routeTemplate(endpoint.prefix, path),
        endpoint: endpoint.name,
        handler,
        access: accessWord(access ?? endpoint.access),
        ...(bearerOf(endpoint, route) === undefined ? {} : { bearer: true }),
        parameters,
        ...(query === undefined ? {} : { query }),
        ...(body === undefined ? {} : { body }),
        ...(reply === undefined ? {} : { reply }),
      };
    }),
  );
}

/** Returns an access rule as text: the value of `allow`, then the names of the services that the rule lists. */
function accessWord(rule: AccessRule): string {
  if (rule.allow !== 'services' || rule.services === undefined) return rule.allow;
  return `services ${rule.services.join(', ')}`;
}
