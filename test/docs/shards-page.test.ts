// docs/reference/shards.md: the settings that it calls shared out are those of which a shard gets a part.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SECTION_DEFAULTS } from '../../host/service/section-settings.ts';
import { dottedName } from '../../kit/setting-name.ts';
import { shardLimits } from '../../host/shards/shard-limits.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/reference/shards.md'), 'utf8');

test('the limits that are shared out are those of the page', () => {
  const shares = shardLimits(SECTION_DEFAULTS, 2);
  const divided = Object.entries(SECTION_DEFAULTS).flatMap(([room, settings]) => {
    const share: Readonly<Record<string, unknown>> = shares[room as keyof typeof shares];
    return Object.entries(settings)
      .filter(([key, value]) => share[key] !== value)
      .map(([key]) => dottedName(room, key));
  });
  const [, list] = /shared out equally, rounded up: ([^.]+(?:\.[^.\s][^.]*)*)\. /.exec(page)!;
  const named = [...list!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!);
  expect(named.toSorted()).toEqual(divided.toSorted());
});
