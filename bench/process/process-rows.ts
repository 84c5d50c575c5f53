// Measurements (da) to (df): hosting `process`, compared with the embedded hosting of the same cart in the same run.
import type { Measurement, Pace } from '../report.ts';
import { cartLanguages } from './cart-languages.ts';
import { measureEcho } from './echo-row.ts';
import { measureFolds } from './fold-rows.ts';
import { measureOpenEntities } from './open-entities-row.ts';
import { measureRequests } from './request-rows.ts';

export async function measureProcess(
  wanted: ReadonlySet<string>,
  pace: Pace,
  entities: number,
): Promise<Measurement[]> {
  const languages = cartLanguages();
  const wantsAny = (...letters: readonly string[]): boolean =>
    letters.some((letter) => wanted.has(letter));
  return [
    ...(wantsAny('da', 'da2', 'db', 'db2', 'dc', 'dc2')
      ? await measureRequests(wanted, pace, languages)
      : []),
    ...(wantsAny('dd', 'dd2') ? await measureFolds(wanted, pace, languages) : []),
    ...(wanted.has('de') ? [await measureEcho(pace)] : []),
    ...(wanted.has('df') ? [await measureOpenEntities(entities)] : []),
  ];
}
