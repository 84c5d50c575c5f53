// The components of the service: the program serves them, and the tests run them. An import starts nothing.
import type { Components } from '@svc/process';
import { book } from './book.ts';
import { libraryEndpoint } from './library-endpoint.ts';

export const components: Components = {
  entities: [book],
  endpoints: [libraryEndpoint],
  // Change it whenever the same events give another state: with it the runtime stores snapshots.
  version: '1',
};
