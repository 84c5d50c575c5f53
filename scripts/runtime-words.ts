// RuntimeWords: writes client/generated/runtime-words.ts, the words of the runtime that descriptors use. The client has no
// dependency, so it cannot import them from the host.
import { ALLOWABLE_NAMES } from '../host/history/upgrade-finding.ts';
import { SECTION_DEFAULTS } from '../host/service/section-settings.ts';
import { dottedName, variableName } from '../kit/setting-name.ts';

export const RUNTIME_WORDS = 'client/generated/runtime-words.ts';

/**
 * Sections of settings that a descriptor may set, beside svc.log and svc.shards. Only their settings that are numbers or
 * `true` and `false` are taken: no file, no address and no code can be named with one.
 */
const SECTIONS = [
  'http',
  'engine',
  'wasm',
  'process',
  'journal',
  'timers',
  'views',
  'consumers',
  'log',
  'supervisor',
  'observability',
] as const satisfies readonly (keyof typeof SECTION_DEFAULTS)[];

/** Environment variables of the runtime that the descriptor of a service of hosting `wasm` or `process` may set. */
export function runtimeVariables(): readonly string[] {
  const ofSections = SECTIONS.flatMap((section) =>
    Object.entries(SECTION_DEFAULTS[section])
      .filter(([, value]) => ['number', 'boolean'].includes(typeof value))
      .map(([key]) => dottedName(section, key)),
  );
  return ['svc.log', 'svc.shards', ...ofSections].map(variableName);
}

export function runtimeWords(): string {
  return `// Written by \`npm run generate\` from the settings of the runtime and the findings of the upgrade check.

/** Environment variables of the runtime that descriptors of hosting wasm and process may set: limits, log and shards. */
export const RUNTIME_VARIABLES: readonly string[] = ${listed(runtimeVariables())};

/** Findings of the upgrade check that \`allow\` of a descriptor may name. */
export const ALLOWABLE_FINDINGS = ${listed(ALLOWABLE_NAMES)} as const;
export type AllowableFinding = (typeof ALLOWABLE_FINDINGS)[number];
`;
}

function listed(words: readonly string[]): string {
  return `[\n${words.map((word) => `  '${word}',\n`).join('')}]`;
}
