// CodeFromStrings: takes from the threads that are started from now on the means to run text as code:
// `eval`, `Function` and what amounts to them throw. WebAssembly compiles all the same. Threads cannot be
// given V8's flags one by one, and the contexts that exist already keep what they have.
import { setFlagsFromString } from 'node:v8';

export function forbidCodeFromStrings(): void {
  setFlagsFromString('--disallow-code-generation-from-strings');
}
