// Compiles every guest module under fixtures/, into the build cache where that takes long, so that
// tests find them ready.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { compileFixture } from '../test/support/compile-fixture.ts';
import { compileWat, isWatFixture } from '../test/support/compile-wat.ts';

const folder = join(import.meta.dirname, '..', 'fixtures');
for (const entry of readdirSync(folder, { withFileTypes: true }))
  if (entry.isDirectory())
    await (isWatFixture(entry.name) ? compileWat(entry.name) : compileFixture(entry.name));
