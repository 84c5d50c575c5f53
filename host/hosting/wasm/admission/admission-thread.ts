// AdmissionThread: judges a module in a thread of its own, which is terminated when it takes too long or too
// much memory, so that no module decides how long its admission lasts. No code of the module runs here. The
// verdict of an admitted module holds its compiled code, and can be posted to the thread that runs it.
import { Worker } from 'node:worker_threads';
import type { FromAdmission } from './admission-messages.ts';
import type { AdmittedModule, ModuleReport, ModuleVerdict } from './admission.ts';
import type { WasmLimits } from '../wasm-limits.ts';
import { SvcError } from '@svc/kit/svc-error';
import { readModuleFile } from './module-file.ts';

export interface AdmissionOptions {
  /** The whole environment of a new thread; empty if absent. */
  readonly env?: Readonly<Record<string, string>>;
  /** Terminates the thread; the admission then fails with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** Reads a file and judges it. Throws SVC_MODULE_UNREADABLE; the report holds the refusal of every other SvcError. */
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

/**
 * Reads a file and admits it. Throws an SvcError SVC_MODULE_… that says why the module may not run. `thread`: a
 * thread that was started before; it judges no other module.
 */
export async function admitModuleFile(
  file: string,
  limits: WasmLimits,
  { thread, ...options }: AdmissionOptions & { readonly thread?: AdmissionThread } = {},
): Promise<AdmittedModule> {
  const bytes = await readModuleFile(file, limits.moduleBytesMax);
  const judged = thread?.judge(bytes, options.signal) ?? judgeInThread(bytes, limits, options);
  const { report, admitted } = await judged;
  if (admitted !== undefined) return admitted;
  const { code, message } = report.refusal!;
  throw new SvcError(code, message);
}

/** Judges the module in a new thread. Throws SVC_MODULE_TOO_COSTLY, and the signal's reason. */
export async function judgeInThread(
  bytes: Uint8Array,
  limits: WasmLimits,
  { env = {}, signal }: AdmissionOptions = {},
): Promise<ModuleVerdict> {
  signal?.throwIfAborted();
  return new AdmissionThread(limits, env).judge(bytes, signal);
}

/** Loads the host's code when it is created, and then judges one module. */
export class AdmissionThread {
  readonly #worker: Worker;
  readonly #verdict = Promise.withResolvers<ModuleVerdict>();

  constructor(limits: WasmLimits, env: Readonly<Record<string, string>> = {}) {
    const { admissionTimeoutMs, admissionMemoryMib } = limits;
    const { resolve, reject, promise } = this.#verdict;
    this.#worker = new Worker(new URL('./admission-worker.ts', import.meta.url), {
      name: 'admission',
      workerData: limits,
      env,
      resourceLimits: { maxOldGenerationSizeMb: admissionMemoryMib },
    });
    let timer: NodeJS.Timeout | undefined;
    const stop = () => reject(tooCostly(`took longer than ${admissionTimeoutMs} ms`, 'timeout-ms'));
    this.#worker.on('message', (message: FromAdmission) => {
      if (message.kind === 'begun') timer = setTimeout(stop, admissionTimeoutMs);
      else if (message.tookMs > admissionTimeoutMs) stop();
      else resolve(message.verdict);
    });
    this.#worker.on('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? tooCostly(`took more than ${admissionMemoryMib} MiB of memory`, 'memory-mib')
          : error,
      ),
    );
    this.#worker.on('exit', (code) =>
      reject(new Error(`the thread that judged the module ended with code ${code}`)),
    );
    // The second handler also handles the rejection for a thread that is terminated unused.
    promise.then(
      () => clearTimeout(timer),
      () => clearTimeout(timer),
    );
  }

  /** Judges the module, after which the thread ends. Throws SVC_MODULE_TOO_COSTLY, and the signal's reason. */
  async judge(bytes: Uint8Array, signal?: AbortSignal): Promise<ModuleVerdict> {
    const abort = () => this.#verdict.reject(signal!.reason);
    if (signal?.aborted === true) abort();
    signal?.addEventListener('abort', abort);
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    this.#worker.postMessage(bytes);
    try {
      return await this.#verdict.promise;
    } finally {
      signal?.removeEventListener('abort', abort);
      this.end();
    }
  }

  end(): void {
    // The termination is not awaited: a thread in which V8 compiles ends only after the compilation.
    void this.#worker.terminate();
  }
}

function tooCostly(what: string, setting: string): SvcError {
  return new SvcError(
    'SVC_MODULE_TOO_COSTLY',
    `The admission of the module ${what} and was stopped. ` +
      `Build a smaller module, or raise svc.wasm.admission-${setting}.`,
  );
}
