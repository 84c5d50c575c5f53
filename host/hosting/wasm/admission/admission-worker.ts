// Entry point of the admission thread: judges the one module that it receives.
import { parentPort, workerData } from 'node:worker_threads';
import type { FromAdmission } from './admission-messages.ts';
import { judgeModule } from './admission.ts';
import type { WasmLimits } from '../wasm-limits.ts';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const send = (message: FromAdmission) => parentPort!.postMessage(message);

parentPort!.once('message', (bytes: Uint8Array) => {
  send({ kind: 'begun' });
  const begunMs = performance.now();
  const verdict = judgeModule(bytes, workerData as WasmLimits);
  send({ kind: 'judged', verdict, tookMs: performance.now() - begunMs });
});
