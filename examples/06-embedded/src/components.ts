// The components of the service: the program serves them, and svc reads the journal with them. An import starts nothing.
import type { Components } from '@svc/host';
import { flagEndpoint } from './flag-endpoint.ts';
import { flag } from './flag.ts';

export const components: Components = {
  entities: [flag],
  endpoints: [flagEndpoint],
};
