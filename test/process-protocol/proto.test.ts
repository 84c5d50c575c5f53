// The protocol grows by addition alone: what has ever been published of it stays. And the codecs are those of the messages.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'process-protocol');
const PROTO = 'svc/process/v1/process.proto';

/** Each field as `Message.field = number type`, and each method with its types. */
function fieldsOf(text: string): string[] {
  const fields: string[] = [];
  let message = '';
  for (const line of text.split('\n')) {
    message = /^message (\w+)/.exec(line)?.[1] ?? message;
    const method = /^ {2}rpc (.*);/.exec(line)?.[1];
    if (method !== undefined) fields.push(`rpc ${method}`);
    const [, type, name, number] =
      /^ +((?:repeated |optional )?[\w.]+) (\w+) = (\d+);/.exec(line) ?? [];
    if (name !== undefined) fields.push(`${message}.${name} = ${number} ${type}`);
  }
  return fields;
}

test('has every field that version 1 was published with', () => {
  const published = readFileSync(join(import.meta.dirname, 'version-1.txt'), 'utf8');
  const now = new Set(fieldsOf(readFileSync(join(folder, PROTO), 'utf8')));
  const lines = published.trim().split('\n');
  expect(lines.length).toBeGreaterThan(100);
  expect(lines.filter((line) => !now.has(line))).toEqual([]);
});

test('gives no number twice in a message', () => {
  const numbers = fieldsOf(readFileSync(join(folder, PROTO), 'utf8'))
    .filter((line) => !line.startsWith('rpc'))
    .map((line) => line.replace(/\.\w+ = (\d+) .*/, ' $1'));
  expect(new Set(numbers).size).toBe(numbers.length);
});

const withoutVersions = (text: string) => text.replace(/^\/\/ {3}protoc.*$/gm, '');
const hasCompiler = spawnSync('protoc', ['--version']).status === 0;
if (!hasCompiler) console.log('no protoc: whether the codecs are up to date is not tested');

test.skipIf(!hasCompiler)('has codecs that are up to date', () => {
  const own = temporaryFolder();
  cpSync(folder, join(own, 'process-protocol'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(own, 'node_modules'));
  execFileSync(join(own, 'process-protocol', 'generate.sh'), { stdio: 'pipe' });
  const generated = join('process-protocol', 'generated', PROTO.replace(/proto$/, 'ts'));
  expect(withoutVersions(readFileSync(join(own, generated), 'utf8'))).toBe(
    withoutVersions(readFileSync(join(root, generated), 'utf8')),
  );
});
