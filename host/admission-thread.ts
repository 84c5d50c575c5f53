// AdmissionThread: judges a module in a thread of its own, which is ended when it takes too long or too
// much memory: how long its own admission lasts is not a module's to decide. No code of it runs here.
// The verdict of an admitted module holds its compiled code, and can be posted to the thread that runs it.
import { Worker } from 'node:worker_threads';
import type { AdmissionRequest, FromAdmission } from './admission-messages.ts';
import type { AdmittedModule, ModuleReport, ModuleVerdict } from './hosting/wasm/admission.ts';
import type { WasmLimits } from './hosting/wasm/wasm-limits.ts';
import { SvcError } from './model/svc-error.ts';
import { readModuleFile } from './module-file.ts';

export interface AdmissionOptions {
  /** All that the thread has for an environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the thread; the admission then fails with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Reads a file and judges it. Throws SVC_MODULE_UNREADABLE; every other failing is in the report. */
export async function reportOfFile(file: string, limits: WasmLimits): Promise<ModuleReport> {
  try {
    const bytes = await readModuleFile(file, limits.moduleBytesMax);
    return (await judgeInThread(bytes, limits)).report;
  } catch (error) {
    if (!(error instanceof SvcError) || error.code === 'SVC_MODULE_UNREADABLE') throw error;
    const { code, message } = error;
    return { imports: [], exports: [], sizes: {}, refusal: { code, message } };
  }
}

/** Reads a file and admits it. Throws an SvcError SVC_MODULE_… that says why it may not run. */
export async function admitModuleFile(
  file: string,
  limits: WasmLimits,
  options?: AdmissionOptions,
): Promise<AdmittedModule> {
  const bytes = await readModuleFile(file, limits.moduleBytesMax);
  const { report, admitted } = await judgeInThread(bytes, limits, options);
  if (admitted !== undefined) return admitted;
  const { code, message } = report.refusal!;
  throw new SvcError(code, message);
}

/** Throws SVC_MODULE_TOO_COSTLY. */
export async function judgeInThread(
  bytes: Uint8Array,
  limits: WasmLimits,
  { env = {}, signal }: AdmissionOptions = {},
): Promise<ModuleVerdict> {
  signal?.throwIfAborted();
  const { admissionTimeoutMs, admissionMemoryMib } = limits;
  const request: AdmissionRequest = { bytes, limits };
  const worker = new Worker(new URL('./admission-worker.ts', import.meta.url), {
    name: 'admission',
    workerData: request,
    env,
    resourceLimits: { maxOldGenerationSizeMb: admissionMemoryMib },
  });
  const { promise, resolve, reject } = Promise.withResolvers<ModuleVerdict>();
  let timer: NodeJS.Timeout | undefined;
  const stop = () => reject(tooCostly(`took longer than ${admissionTimeoutMs} ms`, 'timeout-ms'));
  const abort = () => reject(signal!.reason);
  signal?.addEventListener('abort', abort);
  worker.on('message', (message: FromAdmission) => {
    if (message.kind === 'begun') timer = setTimeout(stop, admissionTimeoutMs);
    else if (message.tookMs > admissionTimeoutMs) stop();
    else resolve(message.verdict);
  });
  worker.on('error', (error: NodeJS.ErrnoException) =>
    reject(
      error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? tooCostly(`took more than ${admissionMemoryMib} MiB of memory`, 'memory-mib')
        : error,
    ),
  );
  worker.on('exit', (code) =>
    reject(new Error(`the thread that judged the module ended with code ${code}`)),
  );
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
    // Not waited for: in the middle of V8's compiling, it ends when that is done.
    void worker.terminate();
  }
}

function tooCostly(what: string, setting: string): SvcError {
  return new SvcError(
    'SVC_MODULE_TOO_COSTLY',
    `The admission of the module ${what} and was stopped. ` +
      `Build a smaller module, or raise svc.wasm.admission-${setting}.`,
  );
}
