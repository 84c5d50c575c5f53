// CodeFromStrings disables compiling JavaScript from strings in threads that are started later: `eval`, `Function`
// and their equivalents throw there. WebAssembly is not affected. V8's flags cannot be set per thread, and contexts
// that exist already keep their own setting.
import { setFlagsFromString } from 'node:v8';

export function forbidCodeFromStrings(): void {
  setFlagsFromString('--disallow-code-generation-from-strings');
}
