// Each rule of the architecture notices a checkout that breaks it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { closureOf, workspacesOf, type WorkspaceManifest } from '../../scripts/workspaces.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { assignedFunctions, oddNames, tooLong } from './file-rules.ts';
import {
  cycles,
  environmentReaders,
  bypassedLocations,
  forbiddenImports,
  importsOfRoots,
  impurities,
  joinedAdapters,
  strayPackages,
  uncovered,
} from './import-rules.ts';
import { filesOf, treeOf } from './source-tree.ts';
import { isHeldToWords, retiredWords } from './wording.ts';
import { forbiddenUses, withoutClass, workspaceCycles, workspaceOf } from './workspaces.ts';

const tree = (files: Readonly<Record<string, string>>) => treeOf(new Map(Object.entries(files)));

function workspace(folder: string, manifest: Partial<WorkspaceManifest> = {}) {
  const name = `@svc/${folder.split('/').at(-1)}`;
  return workspaceOf({ folder, manifest: { name, version: '0.1.0', ...manifest } });
}

/** Workspaces of every class; each depends on all others. */
const FOLDERS = [
  'contract',
  'http1',
  'client',
  'auth',
  'kit',
  'forward',
  'identity',
  'host',
  'guest-sdk',
  'cli',
  'proxy',
  'webhooks',
  'examples/01-hello',
];
const dependencies = Object.fromEntries(
  FOLDERS.map((folder) => [`@svc/${folder.split('/').at(-1)}`, '0.1.0']),
);
const workspaces = FOLDERS.map((folder) => workspace(folder, { dependencies }));

function checkout(files: readonly string[]): string {
  const root = temporaryFolder();
  for (const file of files) {
    mkdirSync(join(root, dirname(file)), { recursive: true });
    writeFileSync(join(root, file), '{}');
  }
  return root;
}

const found = (name: string, ...needs: readonly string[]) => ({
  folder: name,
  manifest: {
    name,
    version: '1',
    dependencies: Object.fromEntries(needs.map((need) => [need, '1'])),
  },
});

describe('a checkout', () => {
  test('is walked as a whole, but for what is installed, built or generated', () => {
    const root = checkout([
      'proxy/main.ts',
      'proxy/node_modules/x/index.ts',
      'build/out.ts',
      'contract/generated/schema.ts',
      'console/public/page.js',
      'vitest.config.ts',
      '.svc/x.ts',
    ]);
    expect(filesOf(root, 'ts', 'js')).toEqual(['proxy/main.ts', 'vitest.config.ts']);
  });

  test('has the workspaces that its patterns name, as far as they are there', () => {
    const root = checkout(['contract/package.json', 'examples/a/package.json', 'examples/b/x.ts']);
    const patterns = { workspaces: ['contract', 'proxy', 'examples/*'] };
    writeFileSync(join(root, 'package.json'), JSON.stringify(patterns));
    expect(workspacesOf(root).map(({ folder }) => folder)).toEqual(['contract', 'examples/a']);
  });

  test('orders what a package depends on before it', () => {
    const all = [found('cli', 'host', 'pino'), found('host', 'contract'), found('contract')];
    expect(closureOf(all, ['cli']).map(({ folder }) => folder)).toEqual([
      'contract',
      'host',
      'cli',
    ]);
    expect(closureOf(all, ['host']).map(({ folder }) => folder)).toEqual(['contract', 'host']);
  });
});

describe('a workspace', () => {
  test('that no rule covers fails, and the message says what to add', () => {
    const [problem, ...others] = withoutClass([workspace('contract'), workspace('mailer')]);
    expect(others).toEqual([]);
    expect(problem).toMatch(/^mailer\/ has no class: add "svc": .* to mailer\/package\.json/);
  });

  test('declares its class, which has to exist', () => {
    expect(withoutClass([workspace('mailer', { svc: { class: 'program' } })])).toEqual([]);
    expect(withoutClass([workspace('mailer', { svc: { class: 'toString' } })])).toHaveLength(1);
  });

  test.each([
    ['a program, another one', 'proxy/main.ts', '@svc/webhooks'],
    ['a package, the kit', 'http1/parser.ts', '@svc/kit'],
    ['a package, a shared library', 'http1/parser.ts', '@svc/identity'],
    ['a shared library, the runtime', 'identity/caller.ts', '@svc/host'],
    ['the kit, a shared library', 'kit/log.ts', '@svc/identity'],
    ['a package, the runtime', 'auth/auth.ts', '@svc/host'],
    ['a package, a program', 'auth/auth.ts', '@svc/proxy'],
    ["the platform's words, anything", 'client/ports.ts', '@svc/contract'],
    ['the runtime, a program', 'host/main.ts', '@svc/proxy'],
    ['the runtime, the SDK', 'host/main.ts', '@svc/guest-sdk'],
    ['the kit, the runtime', 'kit/log.ts', '@svc/host'],
    ['the contract, a package', 'contract/index.ts', '@svc/http1'],
    ['the SDK, the kit', 'guest-sdk/testing/index.ts', '@svc/kit'],
    ["the SDK's compiler, the runtime", 'guest-sdk/compiler/index.ts', '@svc/host'],
    ['an example, a program', 'examples/01-hello/src/main.ts', '@svc/proxy'],
  ])('may not import: %s', (_name, from, to) => {
    const { imports } = tree({ [from]: `import { x } from '${to}/x';` });
    expect(forbiddenUses(imports, workspaces)).toEqual([
      expect.stringMatching(`^${from} → ${to}: .* may not import one of class`),
    ]);
  });

  test.each([
    ['a program, the kit', 'proxy/main.ts', '@svc/kit'],
    ['a program, a package', 'proxy/main.ts', '@svc/http1'],
    ['a program, the runtime', 'webhooks/main.ts', '@svc/host'],
    ['a package, another one', 'auth/auth.ts', '@svc/http1'],
    ["the contract, the platform's words", 'contract/index.ts', '@svc/client'],
    ['the runtime, the kit', 'host/main.ts', '@svc/kit'],
    ['the runtime, a shared library', 'host/main.ts', '@svc/identity'],
    ['a shared library, the kit', 'identity/caller.ts', '@svc/kit'],
    ['a shared library, another one', 'forward/forwarding.ts', '@svc/identity'],
    ['the command line, a program', 'cli/main.ts', '@svc/proxy'],
  ])('may import: %s', (_name, from, to) => {
    const { imports } = tree({ [from]: `import { x } from '${to}';` });
    expect(forbiddenUses(imports, workspaces)).toEqual([]);
  });

  test('imports another by its name, not by a path', () => {
    const { imports } = tree({
      'proxy/main.ts': `import { x } from '../http1/parser.ts';`,
      'http1/parser.ts': '',
    });
    expect(forbiddenUses(imports, workspaces)).toEqual([
      'proxy/main.ts → http1/parser.ts: import @svc/http1 by its name',
    ]);
  });

  test('depends on no workspace that depends on it', () => {
    const [kit, http1, auth] = [
      workspace('kit', { dependencies: { '@svc/http1': '0.1.0', pino: '1' } }),
      workspace('http1', { devDependencies: { '@svc/auth': '0.1.0' } }),
      workspace('auth', { peerDependencies: { '@svc/http1': '0.1.0' } }),
    ];
    expect(workspaceCycles([kit, http1, auth])).toEqual(['@svc/http1 → @svc/auth → @svc/http1']);
    expect(workspaceCycles([kit, http1])).toEqual([]);
  });

  test('imports only what its package.json depends on', () => {
    const { imports } = tree({ 'proxy/main.ts': `const kit = await import('@svc/kit');` });
    expect(forbiddenUses(imports, [workspace('proxy'), workspace('kit')])).toEqual([
      'proxy/main.ts → @svc/kit: proxy/package.json does not depend on it',
    ]);
  });
});

describe('a folder', () => {
  test.each([
    ['of the checkout that is no workspace', 'mailer/main.ts', /^mailer\/ has no rule: make it a/],
    ['of the runtime', 'host/mail/send.ts', /^host\/mail\/ has no rule: add it to MAY_IMPORT/],
    ['of the SDK', 'guest-sdk/new/x.ts', /^guest-sdk\/new\/ has no rule: add it to MAY_IMPORT/],
  ])('%s without a rule fails', (_name, file, problem) => {
    expect(uncovered([file], workspaces)).toEqual([expect.stringMatching(problem)]);
  });

  test('of a workspace without rules of its own imports the workspace alone', () => {
    expect(uncovered(['proxy/http/server.ts', 'vitest.config.ts'], workspaces)).toEqual([]);
    const { imports } = tree({
      'proxy/http/server.ts': `import { a } from '../routes.ts';\nimport { b } from '../../bench/load.ts';`,
    });
    expect(forbiddenImports({ imports }, workspaces)).toEqual([
      'proxy/http/server.ts → bench/load.ts',
    ]);
  });

  test.each([
    ['the schedule, the engine', 'host/schedule/x.ts', '../engine/y.ts', 'host/engine/y.ts'],
    ['an adapter, another one', 'host/http/x.ts', '../storage/y.ts', 'host/storage/y.ts'],
    ['the engine, an adapter', 'host/engine/x.ts', '../http/y.ts', 'host/http/y.ts'],
    ['an export, too', 'host/engine/x.ts', '../http/y.ts', 'host/http/y.ts'],
  ])('may not import: %s', (_name, from, specifier, to) => {
    for (const statement of [`import type { y } from`, `export * from`, `import`]) {
      const { imports } = tree({ [from]: `${statement} '${specifier}';` });
      expect(forbiddenImports({ imports }, workspaces)).toEqual([`${from} → ${to}`]);
    }
  });

  test('imports no composition root', () => {
    const { imports } = tree({
      'host/dev/x.ts': `import { a } from '../main.ts';\nimport { b } from '../embed.ts';`,
      'bench/x.ts': `import { b } from '../host/embed.ts';`,
    });
    expect(importsOfRoots({ imports })).toEqual([
      'host/dev/x.ts → host/main.ts',
      'host/dev/x.ts → host/embed.ts',
    ]);
  });

  test('that joins adapters does so one in a file', () => {
    const both = `import { a } from '../http/a.ts';\nimport { b } from '../storage/b.ts';`;
    expect(joinedAdapters(tree({ 'host/introspection/x.ts': both }))).toEqual([
      'host/introspection/x.ts',
    ]);
  });

  test('opens a journal by its location, outside of host/storage', () => {
    const journal = `import { a } from '../storage/sqlite/tools/a.ts';`;
    const opened = tree({
      'host/service/x.ts': journal,
      'host/history/x.ts': `import { rows } from '../storage/views/file-views.ts';`,
      'host/history/y.ts': `import { rows } from '../storage/views/temporary-rows.ts';`,
      'host/storage/x.ts': `import { a } from './sqlite/tools/a.ts';`,
    });
    expect(bypassedLocations(opened)).toEqual([
      'host/service/x.ts → host/storage/sqlite/tools/a.ts',
      'host/history/x.ts → host/storage/views/file-views.ts',
    ]);
  });

  test('imports in no circle', () => {
    const circle = tree({
      'host/dev/a.ts': `import type { b } from './b.ts';`,
      'host/dev/b.ts': `export { a } from './a.ts';`,
    });
    expect(cycles(circle)).toEqual(['host/dev/a.ts → host/dev/b.ts → host/dev/a.ts']);
  });

  test('uses no npm package of another', () => {
    const { imports } = tree({
      'host/http/x.ts': `import fastify from 'fastify';`,
      'proxy/main.ts': `import { request } from 'undici';\nimport { join } from 'node:path';`,
    });
    expect(strayPackages({ imports })).toEqual([
      'host/http/x.ts → fastify',
      'proxy/main.ts → undici',
    ]);
  });

  test('of the runtime uses the components only where programs run', () => {
    const statement = `import { x } from '@svc/components/x';`;
    const { imports } = tree({
      'host/embed.ts': statement,
      'host/http/x.ts': statement,
      'host/hosting/x.ts': statement,
      'host/hosting/program/x.ts': statement,
      'host/service/x.ts': statement,
      'webhooks/model/x.ts': statement,
    });
    expect(strayPackages({ imports })).toEqual([
      'host/http/x.ts → @svc/components',
      'host/hosting/x.ts → @svc/components',
    ]);
  });

  test('reads no environment', () => {
    expect(environmentReaders(tree({ 'proxy/routes.ts': 'const a = process.env.A;' }))).toEqual([
      'proxy/routes.ts',
    ]);
  });
});

test.each([
  ['const now = Date.now();', 'host/engine/x.ts uses Date.now'],
  ['setTimeout(() => {}, 1);', 'host/engine/x.ts uses setTimeout'],
  [`import { join } from 'node:path';`, 'host/engine/x.ts → node:path'],
])('the engine stays pure: %s', (text, problem) => {
  expect(impurities(tree({ 'host/engine/x.ts': text }))).toEqual([problem]);
  expect(impurities(tree({ 'host/http/x.ts': text }))).toEqual([]);
});

describe('a file', () => {
  test('with 401 lines is too long, a style sheet as well', () => {
    const texts = new Map([
      ['proxy/main.ts', '\n'.repeat(400)],
      ['console/page/style/new.css', '\n'.repeat(401)],
    ]);
    expect(tooLong(texts)).toEqual(['console/page/style/new.css has 401 lines']);
  });

  test.each([
    'this.#exchange.onGone = () => this.#leave();',
    'waiter.cancel = (reason) => calls.cancel(reason);',
    'waiter.cancel = async (reason: Error, more = () => 1): Promise<void> => stop(reason);',
    'calls.find =\n  query => rows(query);',
    'handlers[name] ??= function () {};',
  ])('assigns a function to a property: %s', (line) => {
    expect(assignedFunctions(new Map([['a.ts', `let a;\n${line}\n`]]))).toHaveLength(1);
  });

  test.each([
    'const onGone = (): void => this.#leave();\nexchange.onGone = onGone;',
    'output.onDrain = isNeeded ? () => drained() : undefined;',
    "const cancel: Waiter['cancel'] = (reason) => stop(reason);\nwaiter.cancel = cancel;",
    'class Relay {\n  readonly #leave = () => this.gone();\n}',
    'if (count.value === 1) each(() => count.value >= most => 1);',
    'send({ onDrain: () => resume() });',
  ])('assigns none: %s', (text) => {
    expect(assignedFunctions(new Map([['a.ts', text]]))).toEqual([]);
  });

  test('says what is in it', () => {
    const good = ['route-table.ts', 'main.ts', 'x.test.ts', 'vitest.config.ts', 'app.tsx'];
    const odd = ['routeTable.ts', 'http-utils.ts', 'common.ts', 'Main.ts', 'pool-manager.ts'];
    expect(oddNames([...good, ...odd])).toEqual(odd);
  });
});

describe('the words of a source', () => {
  test.each([
    [
      'a doc comment without a subject',
      'let a = 1;\n/** Of the record. */\nlet b;',
      "a.ts:2: 'Of'",
    ],
    ['one of several lines', '/**\n * That have arrived.\n */\nlet a;', "a.ts:1: 'That'"],
    ['a member', 'class A {\n  /** By their number. */\n  #a;\n}', "a.ts:2: 'By their'"],
    ['a word in a comment', '// The order is\n// the one order of all.', "a.ts:2: 'the one order'"],
    ['an identifier', 'let a;\nfunction checkPlaces() {}', "a.ts:2: 'Places'"],
    ['a private name', 'class A {\n  #told = 1;\n}', "a.ts:2: '#told'"],
    ['a variable with the name of a JSON member', 'const fault = { places };', "a.ts:1: 'places'"],
    ['a parameter', 'const f = (eno: number) => 1;', "a.ts:1: 'eno'"],
  ])('that are retired are found in %s', (_what, text, line) => {
    const [first, ...others] = retiredWords('a.ts', text);
    expect(first).toContain(`${line}; use `);
    expect(others).toEqual([]);
  });

  test.each([
    '// Of what a line comment says only the words count.',
    '/** Office hours. That is all. */ let a;',
    "const sql = 'SELECT eno FROM place_new';",
    'const replaced = placeholder(replaceAll);',
    "type A = { readonly ['places']: string };",
    'const fault = { places: [] }; fault.places.push(1);',
  ])('are left alone in %s', (text) => {
    expect(retiredWords('a.ts', text)).toEqual([]);
  });

  test('are not looked for in examples, which have the words of their own domains', () => {
    expect(isHeldToWords('examples/07-library/assembly/index.ts')).toBe(false);
    expect(isHeldToWords('host/examples.ts')).toBe(true);
  });
});
