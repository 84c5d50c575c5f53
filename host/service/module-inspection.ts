// ModuleInspection: what the host says of a module's file, under the settings with which it would run it.
// The module is judged as at the start of a service, in a thread that is ended when it costs too much.
import { admitModuleFile, reportOfFile } from '../hosting/wasm/admission/admission-thread.ts';
import type { AdmittedModule, ModuleReport } from '../hosting/wasm/admission/admission.ts';
import type { WasmLimits } from '../hosting/wasm/wasm-limits.ts';
import { SECTION_DEFAULTS, SECTION_RANGES } from './section-settings.ts';
import { readSettings, type HostInputs } from './settings.ts';

/** Throws SVC_USAGE, SVC_SETTING_INVALID, SVC_MODULE_UNREADABLE; why it is refused is in the report. */
export async function inspectModuleFile(
  file: string,
  /** As of `svc run`: `svc.wasm.functions-max=100`. */
  settings: readonly string[],
  env: HostInputs['env'],
): Promise<ModuleReport> {
  return reportOfFile(file, wasmLimits(file, settings, env));
}

/** A module that may run, and under which limits. Throws as inspectModuleFile does, and SVC_MODULE_…. */
export async function admitFileToRun(
  file: string,
  settings: readonly string[],
  env: HostInputs['env'],
): Promise<{ readonly module: AdmittedModule; readonly limits: WasmLimits }> {
  const limits = wasmLimits(file, settings, env);
  return { module: await admitModuleFile(file, limits), limits };
}

function wasmLimits(file: string, settings: readonly string[], env: HostInputs['env']): WasmLimits {
  const { sections } = readSettings(
    {
      args: [...settings.map((setting) => `--set=${setting}`), '--', file],
      env,
      stderrIsTerminal: false,
    },
    SECTION_DEFAULTS,
    SECTION_RANGES,
  );
  return sections.wasm;
}
