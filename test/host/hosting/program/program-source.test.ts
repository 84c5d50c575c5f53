// The file of a program: what cannot be taken from it is reported with its place and what to do. program-bounds.long.test.ts
// has what would keep a tool waiting.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { loadComponents } from '../../../../host/hosting/program/loaded-components.ts';
import { readProgram } from '../../../../host/hosting/program/program-source.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { COUNTED, counter, counterOf, faultOf, program } from './support/programs.ts';

describe('a file of which no components can be taken is refused:', () => {
  test.each([
    ['it exports others', 'export const flag = 1;', /exports no 'components' \(it exports flag\)/],
    ['it exports nothing', 'export {};', /exports no 'components'\. Export the object/],
    ['a list', 'export const components = [];', /is no object of entities and endpoints/],
    ['no lists in it', 'export const components = { entities: {} };', /entities .* are no list/],
    ['no list of views', 'export const components = { views: {} };', /views .* are no list/],
    [
      'no view',
      'export const components = { views: [{ id: "a" }] };',
      /views\[0\] was not made by defineView/,
    ],
    [
      'no consumer',
      'export const components = { consumers: [{ id: "a" }] };',
      /consumers\[0\] was not made by defineConsumer/,
    ],
    [
      'no entity',
      'export const components = { entities: [{ component: "a" }] };',
      /entities\[0\] was not made by defineEntity/,
    ],
    [
      'no endpoint',
      'export const components = { endpoints: [{}] };',
      /endpoints\[0\] is no endpoint/,
    ],
    [
      'an error at its line',
      '\n\nthrow new Error("no\\nway");\nexport const components = {};',
      /cannot be loaded: Error: no way at \S*components\.ts:3:7$/,
    ],
    [
      'a syntax that Node does not strip',
      'export const components = {};\nenum A { B }',
      /TypeScript enum is not supported in strip-only mode at \S*components\.ts:2$/,
    ],
    ['a missing package', 'import "nope";', /Cannot find package 'nope' imported from/],
    ['a missing file', 'import "./nope.ts";', /Cannot find module '.*nope\.ts'/],
    [
      'the end of the process',
      'process.exit(0);',
      /It called process\.exit\(0\) while it was load/,
    ],
    [
      'an error that nobody catches',
      'setTimeout(() => { throw new Error("late"); }); await new Promise(() => setInterval(() => {}));',
      /threw an error that nobody caught \(Error: late at \S*components\.ts:1:/,
    ],
    [
      'a rejection that nobody catches',
      'void Promise.reject(new Error("lost")); await new Promise(() => setInterval(() => {}));',
      /threw an error that nobody caught \(Error: lost at/,
    ],
    [
      'something that never comes',
      'await new Promise(() => {}); export const components = {};',
      /It waited for something that never comes while it was loaded/,
    ],
  ])('%s', (_what, text, problem) => {
    const file = program(text);
    const refused = expect.objectContaining({
      code: 'SVC_PROGRAM_INVALID',
      message: expect.stringMatching(problem) as string,
    }) as Error;
    expect(() => readProgram(file)).toThrow(refused);
  });

  test.each([
    ['nowhere.ts', /There is no such file/],
    ['.', /It is no file/],
    ['module.wasm', /It is a module and no program/],
  ])('%s', (name, problem) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'module.wasm'), '');
    expect(() => readProgram(join(folder, name))).toThrow(problem);
  });

  test('a definition that cannot be has its own code', () => {
    const text = counter('').replace("Type.Literal('counted')", 'Type.String()');
    const file = program(text);
    const refused = expect.objectContaining({
      code: 'SVC_DEFINITION_INVALID',
      message: expect.stringContaining(`${file}: component 'counter', event:`) as string,
    }) as Error;
    expect(() => readProgram(file)).toThrow(refused);
  });
});

const SERVE = 'createService({ name: "a", ...components, dataFolder: "data" })';
const serving = (end: string) =>
  program(
    `import { createService } from '@svc/host';\nexport { components } from './counter.ts';
     import { components } from './counter.ts';\n${end}`,
    { 'counter.ts': counter('') },
  );

describe('a file that starts a service starts none:', () => {
  test.each([
    ['and waits for it', `await ${SERVE};`],
    ['and does not wait', `void ${SERVE};`],
    ['and ends the process with the error', `await ${SERVE}.catch(() => process.exit(1));`],
  ])('%s', (_what, end) => {
    expect(() => readProgram(serving(end))).toThrow(
      /It starts a service when it is imported.*Move them to a file of their own/,
    );
  });
});

describe('an entity of a program', () => {
  test('whose code throws faults with the line that threw', async () => {
    const { open } = counterOf(counter('throw new TypeError("no");'));
    const entity = await open();
    const fault = faultOf(() => entity.apply([COUNTED], undefined));
    expect(fault).toMatchObject({
      faultCause: 'trap',
      message: "apply of component 'counter' threw an error",
      guestMessage: expect.stringMatching(/^TypeError: no at \S*components\.ts:12:15$/) as string,
    });
    expect(entity.lost).toBe(true);
  });

  test('of a file that was changed meanwhile is not opened', async () => {
    const { open, file } = counterOf(counter(''));
    writeFileSync(file, counter('').replaceAll("'counter'", "'counted'"));
    await expect(open()).rejects.toThrow(/declares other components than when it was read/);
  });
});

function setTypeScript(value: typeof process.features.typescript): void {
  Object.defineProperty(process.features, 'typescript', { value, configurable: true });
}

test('a Node that was started without TypeScript is named', async () => {
  const { typescript } = process.features;
  onTestFinished(() => setTypeScript(typescript));
  setTypeScript(false);
  const loading = loadComponents(program(counter('')), { hasStartedService: false });
  await expect(loading).rejects.toThrow(/does not run TypeScript as it was started here/);
});
