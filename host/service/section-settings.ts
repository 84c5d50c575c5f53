// SectionSettings: the sections of the settings with their defaults and ranges, from which docs/reference/settings.md
// is generated.
import {
  CONSUMER_SETTINGS_DEFAULT,
  CONSUMER_SETTINGS_RANGE,
} from '../consumers/consumer-settings.ts';
import { CALL_SETTINGS_DEFAULT, CALL_SETTINGS_RANGE } from '../service-calls/call-settings.ts';
import { ENGINE_LIMITS_DEFAULT, ENGINE_LIMITS_RANGE } from '../engine/engine-limits.ts';
import { TIMER_SETTINGS_DEFAULT, TIMER_SETTINGS_RANGE } from '../engine/timer-settings.ts';
import { WASM_LIMITS_DEFAULT, WASM_LIMITS_RANGE } from '../hosting/wasm/wasm-limits.ts';
import {
  PROCESS_SETTINGS_DEFAULT,
  PROCESS_SETTINGS_RANGE,
} from '../hosting/process/process-settings.ts';
import {
  checkCorsSettings,
  CORS_SETTINGS_DEFAULT,
  CORS_SETTINGS_RANGE,
} from '../http/cors-settings.ts';
import {
  checkHttpSettings,
  HTTP_SETTINGS_DEFAULT,
  HTTP_SETTINGS_RANGE,
} from '../http/http-settings.ts';
import { LOG_LIMITS_DEFAULT, LOG_LIMITS_RANGE } from '@svc/kit/log-limits';
import {
  OBSERVABILITY_LIMITS_DEFAULT,
  OBSERVABILITY_LIMITS_RANGE,
} from '../introspection/observability/observability-limits.ts';
import { AUTH_DEFAULTS, AUTH_RANGES } from '@svc/tokens/auth-section';
import { checkAlgorithms } from '@svc/tokens/token-settings';
import type { SectionRanges } from '@svc/kit/settings-reader';
import { JOURNAL_LIMITS_DEFAULT, JOURNAL_LIMITS_RANGE } from '../storage/journal-limits.ts';
import { VIEW_LIMITS_DEFAULT, VIEW_LIMITS_RANGE } from '@svc/model/view-limits';
import { LOG_FILES_DEFAULT, LOG_FILES_RANGE } from '@svc/kit/log-files-limits';
import { STANDBY_DEFAULT, STANDBY_RANGE } from './standby-settings.ts';
import { checkUpgradeSettings, UPGRADE_DEFAULT, UPGRADE_RANGE } from './upgrade-settings.ts';
import { SUPERVISOR_LIMITS_DEFAULT, SUPERVISOR_LIMITS_RANGE } from '../shards/supervisor-limits.ts';

export const SECTION_DEFAULTS = {
  http: { ...HTTP_SETTINGS_DEFAULT },
  'http.cors': { ...CORS_SETTINGS_DEFAULT },
  engine: { ...ENGINE_LIMITS_DEFAULT },
  wasm: { ...WASM_LIMITS_DEFAULT },
  process: { ...PROCESS_SETTINGS_DEFAULT },
  journal: { ...JOURNAL_LIMITS_DEFAULT },
  timers: { ...TIMER_SETTINGS_DEFAULT },
  views: { ...VIEW_LIMITS_DEFAULT },
  consumers: { ...CONSUMER_SETTINGS_DEFAULT },
  calls: { ...CALL_SETTINGS_DEFAULT },
  auth: { ...AUTH_DEFAULTS },
  log: { ...LOG_LIMITS_DEFAULT },
  'log.files': { ...LOG_FILES_DEFAULT },
  supervisor: { ...SUPERVISOR_LIMITS_DEFAULT },
  standby: { ...STANDBY_DEFAULT },
  upgrade: { ...UPGRADE_DEFAULT },
  observability: { ...OBSERVABILITY_LIMITS_DEFAULT },
};
export type SettingsSections = typeof SECTION_DEFAULTS;

/** Minimum and maximum of each setting. */
export const SECTION_RANGES: SectionRanges<SettingsSections> = {
  http: HTTP_SETTINGS_RANGE,
  'http.cors': CORS_SETTINGS_RANGE,
  engine: ENGINE_LIMITS_RANGE,
  wasm: WASM_LIMITS_RANGE,
  process: PROCESS_SETTINGS_RANGE,
  journal: JOURNAL_LIMITS_RANGE,
  timers: TIMER_SETTINGS_RANGE,
  views: VIEW_LIMITS_RANGE,
  consumers: CONSUMER_SETTINGS_RANGE,
  calls: CALL_SETTINGS_RANGE,
  auth: AUTH_RANGES,
  log: LOG_LIMITS_RANGE,
  'log.files': LOG_FILES_RANGE,
  supervisor: SUPERVISOR_LIMITS_RANGE,
  standby: STANDBY_RANGE,
  upgrade: UPGRADE_RANGE,
  observability: OBSERVABILITY_LIMITS_RANGE,
};

/** Throws SVC_SETTING_INVALID for values that contradict each other. */
export function checkSections(sections: SettingsSections): void {
  checkHttpSettings(sections.http);
  checkCorsSettings(sections['http.cors']);
  checkUpgradeSettings(sections.upgrade);
  checkAlgorithms(sections.auth.algorithms);
}
