// Compiles every guest module under fixtures/ into the build cache, so that tests find them ready.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { compileFixture } from '../test/support/compile-fixture.ts';

const folder = join(import.meta.dirname, '..', 'fixtures');
for (const entry of readdirSync(folder, { withFileTypes: true }))
  if (entry.isDirectory()) await compileFixture(entry.name);
