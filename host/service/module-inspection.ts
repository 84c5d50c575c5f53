// ModuleInspection inspects or admits the file of a module for commands, under the settings that the host would run it
// with. The module is judged as at the start of a service, in a thread with limits of time and memory.
import type { GuestSource, HostingSettings } from '../hosting/guest-source.ts';
import { reportOfFile } from '../hosting/wasm/admission/admission-thread.ts';
import type { ModuleReport } from '../hosting/wasm/admission/admission.ts';
import { readModule } from './module-source.ts';
import type { ViewLimits } from '@svc/model/view-limits';
import { declaredViews } from '../views/view-definitions.ts';
import { SECTION_DEFAULTS, SECTION_RANGES } from './section-settings.ts';
import { readSettings, type HostInputs } from './settings.ts';

/** Report of a module's file. */
export interface InspectedModule extends ModuleReport {
  /**
   * Definitions of the views by their ids, which name the files of their rows; `svc views` shows the same. Absent if the
   * module is refused or has no views.
   */
  readonly viewDefinitions?: Readonly<Record<string, string>>;
}

/** Settings for tools that run a module. */
export interface SettingsToRun extends HostingSettings {
  readonly views: ViewLimits;
}

/** Rejects with SVC_USAGE, SVC_SETTING_INVALID and SVC_MODULE_UNREADABLE; the reason of a refusal is in the report. */
export async function inspectModuleFile(
  file: string,
  /** Settings as for `svc run`: `svc.wasm.functions-max=100`. */
  settings: readonly string[],
  env: HostInputs['env'],
): Promise<InspectedModule> {
  const report = await reportOfFile(file, settingsFor(file, settings, env).wasm);
  const { descriptor, fingerprint, refusal } = report;
  const isRefused = refusal !== undefined || fingerprint === undefined;
  if (descriptor?.views === undefined || isRefused) return report;
  return { ...report, viewDefinitions: viewDefinitionsOf({ descriptor, fingerprint }) };
}

/** Returns the definitions of the views of a source by their ids. */
export function viewDefinitionsOf({
  descriptor,
  fingerprint,
}: Pick<GuestSource, 'descriptor' | 'fingerprint'>): Readonly<Record<string, string>> {
  const definitions = declaredViews(descriptor, fingerprint).map(
    ({ folded: { id, stored } }) => [id, stored.definition] as const,
  );
  return Object.fromEntries(definitions);
}

/**
 * Resolves with a module that may run, and the settings to run it under. Rejects as inspectModuleFile does, and with
 * the SVC_MODULE_… code of a refused module.
 */
export async function admitFileToRun(
  file: string,
  settings: readonly string[],
  env: HostInputs['env'],
): Promise<{ readonly source: GuestSource; readonly settings: SettingsToRun }> {
  const read = settingsFor(file, settings, env);
  return { source: await readModule(file, read), settings: read };
}

function settingsFor(
  file: string,
  settings: readonly string[],
  env: HostInputs['env'],
): SettingsToRun {
  const { sections } = readSettings(
    {
      args: [...settings.map((setting) => `--set=${setting}`), '--', file],
      env,
      stderrIsTerminal: false,
    },
    SECTION_DEFAULTS,
    SECTION_RANGES,
  );
  return { wasm: sections.wasm, views: sections.views };
}
