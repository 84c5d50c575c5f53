// EmbeddedSettings: the settings of a service that a program embeds. They have the names, defaults and ranges
// of `svc run`, and come from the program alone: the environment is its own.
import {
  ROOM_DEFAULTS,
  ROOM_RANGES,
  type RoomSettings,
  checkRoomSettings,
} from '../room-settings.ts';
import { dottedName } from '../settings.ts';
import { SvcError } from '../model/svc-error.ts';

/** What concerns modules and threads of shards has no meaning here. */
const ROOMS = ['http', 'engine', 'journal', 'log'] as const;
type Room = (typeof ROOMS)[number];

export type EmbeddedRooms = Pick<RoomSettings, Room>;

/** `answerTimeoutMs` → `answer-timeout-ms` */
type Kebab<Key extends string> = Key extends `${infer First}${infer Rest}`
  ? First extends Lowercase<First>
    ? `${First}${Kebab<Rest>}`
    : `-${Lowercase<First>}${Kebab<Rest>}`
  : '';
type SettingName = {
  [Each in Room]: `svc.${Each}.${Kebab<keyof RoomSettings[Each] & string>}`;
}[Room];

/** `{ 'svc.engine.live-entities-max': 10_000 }`; those left out have their default. */
export type ServiceSettings = { readonly [Name in SettingName]?: number };

/** Throws SVC_SETTING_INVALID. */
export function readServiceSettings(given: ServiceSettings): EmbeddedRooms {
  const left = new Map<string, unknown>(Object.entries(given));
  const rooms: Record<string, Record<string, number>> = {};
  for (const room of ROOMS) {
    const values: Record<string, number> = { ...ROOM_DEFAULTS[room] };
    const ranges: Readonly<Record<string, readonly [number, number]>> = ROOM_RANGES[room];
    for (const key of Object.keys(values)) {
      const name = dottedName(room, key);
      const value = left.get(name);
      left.delete(name);
      if (value !== undefined) values[key] = checkedNumber(name, value, ranges[key]!);
    }
    rooms[room] = values;
  }
  const [unknown] = left.keys();
  if (unknown !== undefined)
    throw new SvcError(
      'SVC_SETTING_INVALID',
      `There is no setting '${unknown}' of an embedded service: it has those of svc.http, svc.engine, ` +
        'svc.journal and svc.log that docs/reference/settings.md lists.',
    );
  const settings = rooms as unknown as EmbeddedRooms;
  checkRoomSettings({ ...ROOM_DEFAULTS, ...settings });
  return settings;
}

function checkedNumber(
  name: string,
  value: unknown,
  [min, max]: readonly [min: number, max: number],
): number {
  if (Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max)
    return value as number;
  throw new SvcError(
    'SVC_SETTING_INVALID',
    `The setting ${name} takes a whole number from ${min} to ${max}, and found '${String(value)}'.`,
  );
}
