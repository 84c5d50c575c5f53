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

/** Rejects with an SvcError SVC_MODULE_… that says why the module may not run, or with the signal's reason. */
export async function readModule(
  file: string,
  { wasm }: HostingSettings,
  options: AdmissionOptions = {},
): Promise<GuestSource> {
  return wasmSource(await admitModuleFile(file, wasm, options), file);
}

/** Returns a reader whose thread starts at once, so that the thread has loaded its code when the file is ready. */
export function moduleReader(
  { wasm }: HostingSettings,
  env: Readonly<Record<string, string>>,
): SourceReader {
  const thread = new AdmissionThread(wasm, env);
  return {
    read: async (file, signal) =>
      wasmSource(await admitModuleFile(file, wasm, { thread, signal }), file),
    end: () => thread.end(),
  };
}
