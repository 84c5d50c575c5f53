// BuildWorker: the thread that runs builds. It receives requests from build-thread.ts one after the other, and answers
// each with a component, with the problems, or with the reason of a crash.
import { hash } from 'node:crypto';
import { parentPort } from 'node:worker_threads';
import { BuildError } from './build-error.ts';
import { CompilerCrash } from './compiler-crash.ts';
import { componentOf } from './component.ts';
import { compileCoreModule } from './core-module.ts';
import type { BuildAnswer, BuildRequest } from './build-thread.ts';

parentPort!.on('message', (request: BuildRequest) => {
  void answer(request).then((message) => {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window
    parentPort!.postMessage(message);
  });
});

async function answer({ entryFile, sdk, ...options }: BuildRequest): Promise<BuildAnswer> {
  try {
    const compiled = await compileCoreModule(entryFile, sdk, options);
    const component = await componentOf(compiled.core, compiled.descriptor);
    const sourceMap = compiled.sourceMap && {
      ...compiled.sourceMap,
      x_svc_module: hash('sha256', component),
    };
    return { kind: 'built', built: { ...compiled, component, sourceMap } };
  } catch (error) {
    if (error instanceof BuildError) return { kind: 'refused', problems: error.problems };
    if (error instanceof CompilerCrash) return { kind: 'crashed', reason: error.message };
    // Further lines of the error are about the compiler itself, and do not help an author.
    return { kind: 'crashed', reason: String(error).split('\n', 1)[0]! };
  }
}
