// BuildThread: runs builds in a separate thread, so that an exit, a crash, an endless loop or exhausted memory of the
// compiler becomes a BuildError.
//
// Invariants:
// - I1 A thread runs one build at a time, and a thread that did not answer in time is terminated.
// - I2 One idle thread is kept for the next build, because the compiler is faster when it is warm. It does not keep
//   the process alive.
import { Worker } from 'node:worker_threads';
import type { ModuleDescriptor } from '@svc/contract';
import { BuildError, type Problem } from './build-error.ts';
import type { BuildInput } from './build-inputs.ts';
import type { BuildLimits } from './build-limits.ts';
import type { OptimizeLevel } from './core-module.ts';
import type { ModuleSourceMap } from './source-map.ts';

export interface BuildRequest {
  readonly entryFile: string;
  readonly sdk: { readonly name: string; readonly version: string };
  readonly optimizeLevel?: OptimizeLevel | undefined;
  readonly sourceMap?: boolean | undefined;
}

export interface BuiltComponent {
  readonly component: Uint8Array;
  /** The core module within the component. */
  readonly core: Uint8Array;
  /** Undefined if no source map was requested. */
  readonly sourceMap: ModuleSourceMap | undefined;
  readonly descriptor: ModuleDescriptor;
  /** Files outside of the SDK that the build has read or looked for. */
  readonly inputs: readonly BuildInput[];
  /** Warnings of the compiler. */
  readonly warnings: readonly Problem[];
}

export type BuildAnswer =
  | { readonly kind: 'built'; readonly built: BuiltComponent }
  | { readonly kind: 'refused'; readonly problems: readonly Problem[] }
  | { readonly kind: 'crashed'; readonly reason: string }
  | { readonly kind: 'not-started'; readonly error: Error };

interface IdleThread {
  readonly worker: Worker;
  readonly heapMaxMb: number;
}

/** The idle thread that is kept for the next build. */
let idleThread: IdleThread | undefined;

/** Builds a component in a thread. Throws BuildError. */
export async function buildInThread(
  request: BuildRequest,
  limits: BuildLimits,
): Promise<BuiltComponent> {
  const worker = take(limits.heapMaxMb);
  const answer = await answerOf(worker, request, limits);
  if (answer.kind === 'crashed') {
    await worker.terminate();
    throw new BuildError([crash(request, answer.reason)]);
  }
  if (answer.kind === 'not-started') {
    await worker.terminate();
    throw new BuildError([notStarted(answer.error)]);
  }
  await give({ worker, heapMaxMb: limits.heapMaxMb });
  if (answer.kind === 'refused') throw new BuildError(answer.problems);
  return answer.built;
}

/** Returns the idle thread if it has the same limit of memory, otherwise a new thread. */
function take(heapMaxMb: number): Worker {
  if (idleThread?.heapMaxMb === heapMaxMb) {
    const { worker } = idleThread;
    idleThread = undefined;
    worker.ref();
    return worker;
  }
  return new Worker(new URL('./build-worker.ts', import.meta.url), {
    name: 'build',
    // Options of the program, such as --eval and --inspect, must not apply to the thread.
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMaxMb },
    stdout: true,
    stderr: true,
  });
}

/** Keeps a thread for the next build, or ends it if another one is kept already. */
async function give(idle: IdleThread): Promise<void> {
  // Without an event name, Node's own listeners would be removed too.
  for (const event of ['message', 'error', 'exit']) idle.worker.removeAllListeners(event);
  if (idleThread !== undefined) {
    await idle.worker.terminate();
    return;
  }
  // An idle thread that ends has nothing to report.
  idle.worker.on('error', () => undefined);
  idle.worker.on('exit', () => {
    if (idleThread === idle) idleThread = undefined;
  });
  idle.worker.unref();
  idleThread = idle;
}

async function answerOf(
  worker: Worker,
  request: BuildRequest,
  limits: BuildLimits,
): Promise<BuildAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<BuildAnswer>();
  const timer = setTimeout(() => reject(timedOut(request, limits)), limits.timeoutMs);
  worker.on('message', resolve);
  worker.on('error', (error: NodeJS.ErrnoException) =>
    error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      ? reject(outOfMemory(request, limits))
      : // The worker catches everything that a build throws; other errors come from a file of the compiler that does not load.
        resolve({ kind: 'not-started', error }),
  );
  worker.on('exit', (code) => resolve({ kind: 'crashed', reason: `it ended with code ${code}` }));
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
  worker.postMessage(request);
  try {
    return await promise;
  } catch (error) {
    await worker.terminate();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function crash({ entryFile }: BuildRequest, reason: string): Problem {
  return {
    message: `AssemblyScript's compiler crashed on ${entryFile}${reason === '' ? '' : `: ${reason}`}`,
    help: 'take back the last change, or leave parts out until it compiles, and write what is left another way; a type that contains itself with ever new type arguments, class P<T> { next: P<P<T>> | null }, is known to do this',
  };
}

function notStarted(error: Error): Problem {
  const location = fileIn(error.stack ?? '');
  const file = location === undefined ? '' : `: ${location} cannot be loaded`;
  return {
    message: `the compiler of @svc/guest-sdk does not start${file}: ${error.message}`,
    help: 'your component is not the reason. The file was changed, or its installation is not whole: install the packages again (npm ci), or take back the change',
  };
}

/**
 * Returns the file and line of an error of loading a file: those that Node prints above the error, or else the first
 * ones of its stack; undefined if there are none.
 */
function fileIn(stack: string): string | undefined {
  const above = /^(?:file:\/\/)?(\/.+:\d+|[A-Za-z]:.+:\d+)$/.exec(stack.split('\n', 1)[0]!);
  const inStack = /\(?(?:file:\/\/)(\/[^()]+?:\d+):\d+\)?$/m.exec(stack);
  return (above ?? inStack)?.[1];
}

function timedOut({ entryFile }: BuildRequest, { timeoutMs }: BuildLimits): BuildError {
  return new BuildError([
    {
      message: `the build of ${entryFile} did not end within ${timeoutMs} ms and was stopped`,
      help: 'a function that calls itself in several places without an end is known to keep the optimizer busy for ever: give it one; else raise timeoutMs',
    },
  ]);
}

function outOfMemory({ entryFile }: BuildRequest, { heapMaxMb }: BuildLimits): BuildError {
  return new BuildError([
    {
      message: `the build of ${entryFile} used up its memory of ${heapMaxMb} MiB and was stopped`,
      help: 'generic classes and functions that lead to ever new type arguments are known to do this: end them; else raise heapMaxMb',
    },
  ]);
}
