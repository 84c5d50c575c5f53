// The program as it is deployed: its settings come from the environment, and the process has the life of its service.
import { createService } from '@svc/host';
import { components } from './components.ts';

await createService({ name: 'flags', ...components, deployed: 'environment' });
