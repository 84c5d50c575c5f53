// OrchestratorSettings: reads the settings svc.orchestrator.*. @svc/kit/settings-reader defines how they are given.
import { invalidSetting, sectionNames, type SettingsReader } from '@svc/kit/settings-reader';
import {
  ORCHESTRATOR_DEFAULTS,
  ORCHESTRATOR_RANGES,
  type OrchestratorSection,
} from './orchestrator-section.ts';

const SECTIONS = { orchestrator: { ...ORCHESTRATOR_DEFAULTS } };

/** The dotted names of these settings. */
export const ORCHESTRATOR_SETTING_NAMES: readonly string[] = sectionNames(SECTIONS);

/** Throws SVC_SETTING_INVALID. */
export function readOrchestratorSettings(reader: SettingsReader): OrchestratorSection {
  const section = reader.sections(SECTIONS, { orchestrator: ORCHESTRATOR_RANGES }).orchestrator;
  if (section.backoffMaxMs < section.backoffMinMs)
    throw invalidSetting(
      'svc.orchestrator.backoff-max-ms',
      String(section.backoffMaxMs),
      `at least svc.orchestrator.backoff-min-ms, which is ${section.backoffMinMs}`,
    );
  return section;
}
