// What the thread of an admission runs: it judges the one module that it was started with.
import { parentPort, workerData } from 'node:worker_threads';
import type { AdmissionRequest, FromAdmission } from './admission-messages.ts';
import { judgeModule } from './hosting/wasm/admission.ts';

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
const tell = (message: FromAdmission) => parentPort!.postMessage(message);
const { bytes, limits } = workerData as AdmissionRequest;
tell({ kind: 'begun' });
const begunMs = performance.now();
const verdict = judgeModule(bytes, limits);
tell({ kind: 'judged', verdict, tookMs: performance.now() - begunMs });
