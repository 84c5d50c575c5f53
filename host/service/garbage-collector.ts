// GarbageCollector: makes V8's function `gc` available to threads that are started later, which collect the memory of
// released instances with it (hosting/wasm/binding/garbage-collection.ts). Code of a module cannot reach it.
import { setFlagsFromString } from 'node:v8';

export function exposeGarbageCollector(): void {
  setFlagsFromString('--expose-gc');
}
