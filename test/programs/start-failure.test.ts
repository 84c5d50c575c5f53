// What is told of a module that throws at the top level of a file: its own words, with their file and line.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildComponent } from '../../guest-sdk/compiler/index.ts';
import { createWasmGuest } from '../../host/hosting/wasm/wasm-guest.ts';
import { WASM_LIMITS_DEFAULT } from '../../host/hosting/wasm/wasm-limits.ts';
import { runSvc } from '../support/host-process.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';

const INDEX = `import { register } from "@svc/guest-sdk";
import { limit } from "./limit";
@endpoint("") @access("local") class Limits {
  @get("/{n}") get(n: i32): i32 { return limit.length + n; }
}
register<Limits>();
`;
/** More than what is collected at: nothing of the module is ready for that yet. */
const LIMIT = `export const limit = read(new StaticArray<f64>(200_000));
function read(all: StaticArray<f64>): StaticArray<f64> {
  console.log("there are " + all.length.toString());
  if (all.length > 2) throw new Error("the limit must be at most 2");
  return all;
}
`;
const WORDS = '(abort: the limit must be at most 2 at limit.ts:4:23)';

const folder = temporaryFolderOfFile();
const file = join(folder, 'limits.wasm');
let component: Uint8Array;

beforeAll(async () => {
  const sources = join(folder, 'assembly');
  mkdirSync(sources);
  writeFileSync(join(sources, 'index.ts'), INDEX);
  writeFileSync(join(sources, 'limit.ts'), LIMIT);
  const built = await buildComponent({ entryFile: join(sources, 'index.ts'), optimizeLevel: 0 });
  ({ component } = built);
  writeFileSync(file, component);
  writeFileSync(`${file}.map`, JSON.stringify({ ...built.sourceMap, sourceRoot: 'assembly/' }));
});

test('a module that throws while it starts is refused with its own words and all that it logged', async () => {
  const lines: string[] = [];
  const started = createWasmGuest(component, WASM_LIMITS_DEFAULT, ({ message }) =>
    lines.push(message),
  );
  await expect(started).rejects.toMatchObject({
    code: 'SVC_MODULE_START_FAILED',
    message: expect.stringContaining(WORDS) as string,
  });
  expect(lines).toEqual(['there are 200000']);
});

test('svc run says them, and the line as its author knows the file', async () => {
  const ended = await runSvc(['run', file, '--port', '0', '--data', join(folder, 'data')]);
  expect(ended.code).toBe(1);
  expect(ended.stderr).toContain(WORDS);
  expect(ended.stderr).toMatch(
    /It failed at assembly\/limit\.ts:4( \(read\))?\. \[SVC_MODULE_START_FAILED\]\n$/,
  );
});
