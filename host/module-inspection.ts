// ModuleInspection: what the host says of a module's file, under the settings with which it would run it.
// The module is judged as at the start of a service, in a thread that is ended when it costs too much.
import { reportOfFile } from './admission-thread.ts';
import type { ModuleReport } from './hosting/wasm/admission.ts';
import { ROOM_DEFAULTS, ROOM_RANGES } from './room-settings.ts';
import { readSettings, type Surroundings } from './settings.ts';

/** Throws SVC_USAGE, SVC_SETTING_INVALID, SVC_MODULE_UNREADABLE; why it is refused is in the report. */
export async function inspectModuleFile(
  file: string,
  /** As of `svc run`: `svc.wasm.functions-max=100`. */
  settings: readonly string[],
  env: Surroundings['env'],
): Promise<ModuleReport> {
  const { rooms } = readSettings(
    {
      args: [...settings.map((setting) => `--set=${setting}`), '--', file],
      env,
      stderrIsTerminal: false,
    },
    ROOM_DEFAULTS,
    ROOM_RANGES,
  );
  return reportOfFile(file, rooms.wasm);
}
