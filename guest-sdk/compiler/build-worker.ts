// The thread that a build runs in: takes one request after the other from build-thread.ts and answers
// each with a component or with the reasons why there is none.
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

async function answer({ entryFile, sdk, optimizeLevel }: BuildRequest): Promise<BuildAnswer> {
  try {
    const { core, descriptor, warnings } = await compileCoreModule(entryFile, sdk, optimizeLevel);
    const component = await componentOf(core, descriptor);
    return { kind: 'built', built: { component, core, descriptor, warnings } };
  } catch (error) {
    if (error instanceof BuildError) return { kind: 'refused', problems: error.problems };
    if (error instanceof CompilerCrash) return { kind: 'crashed', reason: error.message };
    // What follows the first line is the compiler's, and no help to an author.
    return { kind: 'crashed', reason: String(error).split('\n', 1)[0]! };
  }
}
