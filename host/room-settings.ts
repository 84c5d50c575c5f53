// What each room can be set to, with its defaults: the rows of docs/reference/settings.md.
import { ENGINE_LIMITS_DEFAULT } from './engine/engine-limits.ts';
import { WASM_LIMITS_DEFAULT } from './hosting/wasm/wasm-limits.ts';
import { checkHttpSettings, HTTP_SETTINGS_DEFAULT } from './http/http-settings.ts';
import { SUPERVISOR_LIMITS_DEFAULT } from './supervisor-limits.ts';

export const ROOM_DEFAULTS = {
  http: { ...HTTP_SETTINGS_DEFAULT },
  engine: { ...ENGINE_LIMITS_DEFAULT },
  wasm: { ...WASM_LIMITS_DEFAULT },
  supervisor: { ...SUPERVISOR_LIMITS_DEFAULT },
};
export type RoomSettings = typeof ROOM_DEFAULTS;

/** Throws SVC_SETTING_INVALID for values that make no sense together. */
export function checkRoomSettings({ http }: RoomSettings): void {
  checkHttpSettings(http);
}
