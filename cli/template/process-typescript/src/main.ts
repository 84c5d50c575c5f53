// The process: svc starts it and calls it. Nothing of the service is stored in it.
import { serveProcess } from '@svc/process';
import { components } from './components.ts';

await serveProcess(components);
