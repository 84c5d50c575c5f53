// Compiles every guest module under fixtures/, into the build cache where that takes long, so that
// tests find them ready.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { compileFixture } from '../test/support/compile-fixture.ts';
import { compileWat, isWatFixture } from '../test/support/compile-wat.ts';

const folder = join(import.meta.dirname, '..', 'fixtures');
for (const { name } of readdirSync(folder, { withFileTypes: true }))
  if (isWatFixture(name)) await compileWat(name);
  else if (existsSync(join(folder, name, 'assembly'))) await compileFixture(name);
