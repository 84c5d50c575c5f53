import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generatedFiles } from '../../scripts/generated-files.ts';

test.each([...generatedFiles()])('%s is what `npm run generate` writes', (file, content) => {
  expect(readFileSync(join(import.meta.dirname, '..', '..', file), 'utf8')).toBe(content);
});
