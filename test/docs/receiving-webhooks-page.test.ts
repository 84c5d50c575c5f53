// The programs of docs/how-to/receiving-webhooks.md: what its receivers answer, and that its Python and its command agree with
// the vectors.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { WEBHOOK_REFUSAL_REASONS, verifyWebhook } from '../../client/index.ts';
import {
  createService,
  defineEndpoint,
  defineEntity,
  post,
  respondError,
} from '../../host/embed.ts';
import { snippetsOf } from '../support/doc-snippets.ts';
import { temporaryFolder, temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { WEBHOOK_VECTORS, WEBHOOK_VECTORS_FILE, contentOf } from '../support/webhook-vectors.ts';

const PAGE = 'docs/how-to/receiving-webhooks.md';
const GOOD = WEBHOOK_VECTORS.find(({ name }) => name === 'a short body')!;
const { secrets } = GOOD;

const seen = new Set<string>();
const queued: unknown[] = [];
const isNew = async (id: string) => Promise.resolve(!seen.has(id) && seen.add(id).has(id));
const queue = async (event: unknown) => Promise.resolve(void queued.push(event));

export async function receive(request: Request): Promise<Response> {
  const body = await request.arrayBuffer();
  const verification = await verifyWebhook({ headers: request.headers, body, secrets });
  if (verification.kind === 'refused') return new Response(verification.reason, { status: 401 });

  const event = JSON.parse(new TextDecoder().decode(body)) as { id: string; type: string };
  if (await isNew(event.id)) await queue(event);
  return new Response(null, { status: 204 });
}

const receipt = defineEntity({
  component: 'receipt',
  state: { manifest: 'receipt', schema: Type.Object({ isReceived: Type.Boolean() }) },
  event: {
    manifest: 'receipt-event',
    schema: Type.Union([Type.Object({ type: Type.Literal('received') })]),
  },
  empty: () => ({ isReceived: false }),
  apply: () => ({ isReceived: true }),
  commands: {
    receive: {
      reply: Type.String(),
      handle: ({ isReceived }, { persist, reply }) =>
        isReceived ? reply('repeated') : persist({ type: 'received' }).thenReply('received'),
    },
  },
});

const hookEndpoint = defineEndpoint({
  name: 'Hooks',
  prefix: '/hooks',
  access: 'internet',
  routes: {
    receive: post('', { body: 'bytes', reply: 'text' }, async ({ headers, body }, { call }) => {
      const verification = await verifyWebhook({ headers, body, secrets });
      if (verification.kind === 'refused') return respondError(401, verification.message);

      const event = JSON.parse(new TextDecoder().decode(body)) as { id: string };
      return call(receipt, event.id).receive();
    }),
  },
});

/** Sets the clock of a test to the time at which the vector is fresh. */
function atItsTime(): void {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(GOOD.now) });
  onTestFinished(() => void vi.useRealTimers());
}

const delivery = (body = contentOf(GOOD)) => ({
  method: 'POST',
  headers: Object.fromEntries(GOOD.headers),
  body: new Uint8Array(body),
});

describe('the receivers of the page', () => {
  test('of fetch refuses what is not signed, and queues an event once', async () => {
    atItsTime();
    const url = 'http://receiver.example.com/hooks';
    const refused = await receive(new Request(url, delivery(Buffer.from('{}'))));
    expect([refused.status, await refused.text()]).toEqual([401, 'wrong-signature']);
    for (let attempt = 0; attempt < 2; attempt++)
      expect((await receive(new Request(url, delivery()))).status).toBe(204);
    expect(queued).toEqual([JSON.parse(contentOf(GOOD).toString())]);
  });

  test('of an embedded service does as well', async () => {
    atItsTime();
    const service = await createService({
      name: 'receiver',
      journal: 'memory',
      http: false,
      log: 'none',
      entities: [receipt],
      endpoints: [hookEndpoint],
    });
    onTestFinished(() => service.stop(0));
    const refused = await service.fetch('/hooks', delivery(Buffer.from('{}')));
    expect(refused.status).toBe(401);
    expect(await (await service.fetch('/hooks', delivery())).text()).toBe('received');
    expect(await (await service.fetch('/hooks', delivery())).text()).toBe('repeated');
  });
});

test('the page has each reason in the order of the checks', () => {
  const page = readFileSync(join(import.meta.dirname, '../..', PAGE), 'utf8');
  const rows = [...page.matchAll(/^ {3}\| `([a-z-]+)` \|/gm)].map(([, reason]) => reason);
  expect(rows).toEqual([...WEBHOOK_REFUSAL_REASONS]);
});

const isThere = (program: string, option: string) => spawnSync(program, [option]).status === 0;
const hasPython = isThere('python3', '--version');
const hasOpenssl = isThere('openssl', 'version');
if (!hasPython) console.log(`${PAGE}: its Python is not tested: there is no python3`);
if (!hasOpenssl) console.log(`${PAGE}: its command is not tested: there is no openssl`);

/** Prints the outcome of each vector. */
const DRIVER = `
import json, sys
from verify import *

outcomes = {}
for vector in json.load(open(sys.argv[1], encoding="utf-8")):
    if "path" in vector:
        content = (vector["path"].split("?")[0] or "/").encode()
    else:
        content = base64.b64decode(vector["bodyBase64"]) if "bodyBase64" in vector else vector["body"].encode()
    now = datetime.fromisoformat(vector["now"].replace("Z", "+00:00"))
    outcomes[vector["name"]] = refusal(vector["headers"], content, vector["secrets"], now) or "verified"
for mistake in ([], [""]):
    try:
        refusal([], b"", mistake)
        outcomes["mistake"] = mistake
    except ValueError:
        pass
print(json.dumps(outcomes))
`;

test.skipIf(!hasPython)('the Python finds what the vectors say', () => {
  const folder = temporaryFolder();
  const [program, ...others] = snippetsOf(PAGE, 'python');
  expect(others).toEqual([]);
  writeFileSync(join(folder, 'verify.py'), program!.code);
  writeFileSync(join(folder, 'driver.py'), DRIVER);
  const { stdout, stderr } = spawnSync('python3', ['driver.py', WEBHOOK_VECTORS_FILE], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual(
    Object.fromEntries(WEBHOOK_VECTORS.map(({ name, outcome }) => [name, outcome])),
  );
});

const bodies = WEBHOOK_VECTORS.filter(
  ({ outcome, path, secrets: { length } }) =>
    outcome === 'verified' && path === undefined && length === 1,
);

describe.skipIf(!hasOpenssl)('the command', () => {
  const folder = temporaryFolderOfFile();
  const [command, ...others] = snippetsOf(PAGE, 'sh');

  test('is the only one of the page', () => {
    expect(others).toEqual([]);
    expect(bodies.length).toBeGreaterThan(8);
  });

  test.each(bodies)('gives the signature of $name', (vector) => {
    const valueOf = (wanted: string) =>
      vector.headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
    writeFileSync(join(folder, 'body.json'), contentOf(vector));
    const { stdout } = spawnSync('bash', ['-euc', command!.code], {
      cwd: folder,
      encoding: 'utf8',
      env: {
        ...process.env,
        TIMESTAMP: valueOf('x-hook-timestamp'),
        SECRET: vector.secrets[0],
      },
    });
    const signatures = ['x-hook-signature', 'x-hook-signature-previous'].map(valueOf);
    expect(signatures).toContain(stdout.trim());
  });
});
