// Runs in a process of its own: turns a component of ours into JavaScript with jco, calls it, and
// prints what came back. Only for components that this repository has compiled.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transpile } from '@bytecodealliance/jco';

const [file, folder] = process.argv.slice(2) as [string, string];
const { files } = await transpile(await readFile(file), {
  name: 'guest',
  instantiation: 'sync',
  noTypescript: true,
} as never);
const out = join(folder, 'out');
await mkdir(out);
const modules = new Map<string, WebAssembly.Module>();
for (const [name, content] of Object.entries(files)) {
  const path = join(out, basename(name));
  await writeFile(path, content);
  if (name.endsWith('.wasm'))
    modules.set(basename(name), new WebAssembly.Module(await readFile(path)));
}
await writeFile(join(out, 'package.json'), '{"type":"module"}');

interface Instance {
  apply(events: readonly object[]): void;
  command(context: object, name: string, input: string): unknown;
  query(context: object, name: string, input: string): unknown;
  snapshot(): string;
}
interface Exports {
  entity: {
    Instance: new (component: string, id: string, snapshot: string | undefined) => Instance;
  };
  http: { handle(context: object, request: object): unknown };
  diagnostics: { takeLog(): unknown };
}

let call: unknown;
let callError: unknown;
const imports = {
  'svc:runtime/clock': { nowMs: () => 5n },
  'svc:runtime/journal': { read: () => [] },
  'svc:runtime/routing': {
    call: (target: object, name: string, input: string, metadata: unknown) => {
      call = { target, name, input, metadata };
      if (callError !== undefined) throw callError;
      return '{"id":"c 2","items":[],"checkedOut":false}';
    },
  },
};
const glue = (await import(pathToFileURL(join(out, 'guest.js')).href)) as {
  instantiate(core: (path: string) => WebAssembly.Module, imports: object): Exports;
};
const guest = glue.instantiate((path) => modules.get(path)!, imports);

/** jco throws the error of a result, wrapped. */
function errorOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return (error as { payload?: unknown }).payload ?? String(error);
  }
  return 'no error';
}

const context = { nowMs: 1n, seed: 2n, metadata: [['traceparent', '00-é']] };
const cart = new guest.entity.Instance('shopping-cart', 'c1', undefined);
const effect = cart.command(context, 'add-item', '{"sku":"äpfel 😀","quantity":2}') as {
  events: object[];
};
cart.apply(effect.events);
const request = {
  route: 0,
  parameters: ['c 2'],
  query: '',
  headers: [['x-é', 'ü']],
  caller: 'local',
  body: { tag: 'none' },
};
const response = guest.http.handle(context, request);
callError = Object.assign(new Error('refused'), {
  payload: {
    tag: 'refused',
    val: { code: { tag: 'other', val: 'SOLD_OUT' }, message: 'no', details: '{}' },
  },
});
const firstCall = call;
process.stdout.write(
  JSON.stringify({
    effect,
    refusal: errorOf(() => cart.command(context, 'add-item', '{"sku":"a"}')),
    query: cart.query(context, 'get', 'null'),
    snapshot: cart.snapshot(),
    badEvent: errorOf(() => cart.apply([{ manifest: 'cart-event', json: '{}' }])),
    response,
    call: firstCall,
    refusedCall: errorOf(() => guest.http.handle(context, request)),
    log: guest.diagnostics.takeLog(),
  }),
);
