// The components of the service: the program serves them, and the tests run them. An import starts nothing.
import type { Components } from '@svc/process';
import { spaceEndpoint } from './space-endpoint.ts';
import { space } from './space.ts';

export const components: Components = {
  entities: [space],
  endpoints: [spaceEndpoint],
  // Changes whenever the same events give another state: with it the runtime stores snapshots.
  version: '1',
};
