// ModuleSource reads sources from the files of modules. A module is judged in a thread of its own, which runs none of
// its code.
import type { GuestSource, HostingSettings } from '../hosting/guest-source.ts';
import { wasmSource } from '../hosting/guest-source.ts';
import {
  type AdmissionOptions,
  AdmissionThread,
  admitModuleFile,
} from '../hosting/wasm/admission/admission-thread.ts';
import type { SourceReader } from '../dev/module-swap.ts';
import { SvcError } from '@svc/kit/svc-error';
import { unservedConsumers } from './unserved-consumers.ts';

/** Rejects with an SvcError SVC_MODULE_… that says why the module may not run, or with the signal's reason. */
export async function readModule(
  file: string,
  { wasm }: HostingSettings,
  options: AdmissionOptions = {},
): Promise<GuestSource> {
  return served(wasmSource(await admitModuleFile(file, wasm, options), file));
}

/** Returns a reader whose thread starts at once, so that the thread has loaded its code when the file is ready. */
export function moduleReader(
  { wasm }: HostingSettings,
  env: Readonly<Record<string, string>>,
): SourceReader {
  const thread = new AdmissionThread(wasm, env);
  return {
    read: async (file, signal) =>
      served(wasmSource(await admitModuleFile(file, wasm, { thread, signal }), file)),
    end: () => thread.end(),
  };
}

/** Returns the source. Throws SVC_MODULE_BAD_DESCRIPTOR if it declares what this version does not serve. */
function served(source: GuestSource): GuestSource {
  const problem = unservedConsumers(source.descriptor);
  if (problem !== undefined) throw new SvcError('SVC_MODULE_BAD_DESCRIPTOR', problem);
  return source;
}
