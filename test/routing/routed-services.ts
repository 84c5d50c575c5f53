// RoutedServices: services of a table for tests.
import type { RoutedService } from '../../routing/route-table.ts';

export function routedService(
  key: string,
  changes: Partial<Omit<RoutedService, 'key'>> = {},
): RoutedService {
  const [project, service] = key.split('/');
  return {
    key,
    state: 'serving',
    identity: `spiffe://svc.test/ns/svc-${project}/sa/${service}`,
    hostnames: [`${service}-${project}.svc.test`],
    instances: [{ name: `${service}-1-a`, address: '127.83.0.2', port: 9000 }],
    ...changes,
  };
}
