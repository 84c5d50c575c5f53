// `npm run generate`: writes the files that are generated from the sources. A test checks that they are up to date.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generatedFiles } from './generated-files.ts';

const root = join(import.meta.dirname, '..');
for (const [file, content] of generatedFiles()) {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), content);
}
