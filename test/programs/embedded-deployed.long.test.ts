// A program whose service has the settings of the environment: it waits in standby for its data folder, proves its identity, and
// ends as `svc run` ends.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { CertificateTexts } from '../../identity/certificates.ts';
import { mountCertificates } from '../support/certificates/certificate-files.ts';
import { CART, GATEWAY, textsOf } from '../support/certificates/test-identities.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = join(import.meta.dirname, '..', '..');
const example = join(root, 'examples', '06-embedded', 'src', 'deployed.ts');
/** The module of `@svc/host`, as a literal. */
const HOST = JSON.stringify(join(root, 'host', 'embed.ts'));
const WAIT = { timeout: 20_000, interval: 20 };

interface State {
  readonly phase: string;
  readonly exit?: { readonly code: number; readonly error?: string };
}

class Program {
  readonly child: ChildProcess;
  output = '';
  readonly #stateFile: string;

  constructor(
    folder: string,
    env: Readonly<Record<string, string>>,
    args: readonly string[] = [],
    file = example,
  ) {
    this.#stateFile = join(temporaryFolder(), 'state.json');
    this.child = spawn(process.execPath, [file, ...args], {
      env: {
        PATH: process.env['PATH'],
        SVC_DATA: folder,
        SVC_HTTP_HOST: '127.0.0.1',
        SVC_HTTP_PORT: '0',
        SVC_MANAGEMENT_HOST: '127.0.0.1',
        SVC_MANAGEMENT_PORT: '0',
        SVC_STATE_FILE: this.#stateFile,
        ...env,
      },
    });
    for (const stream of [this.child.stdout!, this.child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.output += text));
    onTestFinished(() => void this.child.kill('SIGKILL'));
  }

  get state(): State | undefined {
    if (!existsSync(this.#stateFile)) return undefined;
    return JSON.parse(readFileSync(this.#stateFile, 'utf8')) as State;
  }

  async reaches(phase: string): Promise<void> {
    await this.#until(() => (this.state?.phase === phase ? true : undefined), phase);
  }

  /** Resolves with the URL of the routes once the service is ready. */
  async url(): Promise<string> {
    await this.reaches('ready');
    return this.#until(() => /https?:\/\/127\.0\.0\.1:\d+/.exec(this.output)?.[0], 'a URL');
  }

  /** Resolves with the value once there is one. Rejects with the output of the program. */
  async #until<Value>(read: () => Value | undefined, wanted: string): Promise<Value> {
    return vi.waitFor(() => {
      const value = read();
      if (value === undefined) throw new Error(`waited for ${wanted}:\n${this.output}`);
      return value;
    }, WAIT);
  }

  async ends(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
    const ended = once(this.child, 'close') as Promise<[number | null]>;
    if (signal !== undefined) this.child.kill(signal);
    const [code] = await ended;
    return code;
  }
}

const change = (url: string, percentage: number) =>
  fetch(`${url}/flags/search`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ percentage, reason: 'a test' }),
  });

test('a program in standby takes the data folder over from one that ends in order', async () => {
  const folder = temporaryFolder();
  const logs = temporaryFolder();
  const first = new Program(folder, {});
  expect((await change(await first.url(), 10)).status).toBe(200);
  const second = new Program(folder, {}, ['--standby']);
  const other = new Program(folder, { SVC_LOG_FILES_DIR: logs });
  expect(await other.ends()).toBe(1);
  const inUse = { code: 1, error: 'SVC_DATA_IN_USE' };
  expect(other.state).toMatchObject({ phase: 'ended', exit: inUse });
  expect(readFileSync(join(logs, 'service.log'), 'utf8')).toContain('SVC_DATA_IN_USE');
  await second.reaches('prepared');
  expect(await first.ends('SIGTERM')).toBe(0);
  expect(first.state).toMatchObject({ phase: 'ended', exit: { code: 0 } });
  const response = await fetch(`${await second.url()}/flags/search`);
  expect(await response.json()).toMatchObject({ percentage: 10 });

  // The setting has the effect of the argument.
  const waiting = new Program(folder, { SVC_STANDBY: 'true' });
  await waiting.reaches('prepared');
  expect(await waiting.ends('SIGTERM')).toBe(0);
  expect(waiting.state).toMatchObject({ phase: 'ended', exit: { code: 0 } });
});

/** Writes a program that stores an event of the component once it is served, and returns its file. */
function programWith(component: string): string {
  const file = join(temporaryFolder(), 'program.ts');
  const source = `
    import { createService, defineEntity } from ${HOST};
    import { Type } from ${JSON.stringify(import.meta.resolve('typebox'))};
    const event = Type.Object({ type: Type.Literal('done') });
    const entity = defineEntity({
      component: '${component}',
      state: { manifest: 'state', schema: Type.Object({}) },
      event: { manifest: '${component}-event', schema: event },
      empty: () => ({}),
      apply: (state) => state,
      commands: {
        go: { handle: (_state, { persist }) => persist({ type: 'done' }).thenReply() },
      },
      queries: {},
    });
    const options = { name: 'shop', entities: [entity], deployed: 'environment' } as const;
    const service = await createService(options);
    await service.call(entity, 'a').go();
    console.log('has stored');`;
  writeFileSync(file, source);
  return file;
}

test('a program whose journal is in a database is taken over by its standby, with another folder', async () => {
  const server = await PostgresServer.shared('18');
  const database = await server.freshDatabase();
  onTestFinished(() => database.end());
  const env = { SVC_DATABASE_URL_VARIABLE: 'FLAGS_URL', FLAGS_URL: database.url };
  const folder = temporaryFolder();
  const first = new Program(folder, env);
  expect((await change(await first.url(), 10)).status).toBe(200);
  expect(existsSync(join(folder, 'journal.sqlite'))).toBe(false);
  const second = new Program(temporaryFolder(), env, ['--standby']);
  await second.reaches('prepared');
  expect(await first.ends('SIGTERM')).toBe(0);
  const response = await fetch(`${await second.url()}/flags/search`);
  expect(await response.json()).toMatchObject({ percentage: 10 });
  expect(second.output.match(/has no synchronous standby/g)).toHaveLength(1);
  expect(await second.ends('SIGTERM')).toBe(0);
  expect(second.output).not.toContain(new URL(database.url).password);
});

test('a program in standby ends if the journal has events that it does not read', async () => {
  const folder = temporaryFolder();
  const first = new Program(folder, {}, [], programWith('one'));
  await vi.waitFor(() => expect(first.output).toContain('has stored'), WAIT);
  const second = new Program(folder, {}, ['--standby'], programWith('two'));
  expect(await second.ends()).toBe(1);
  expect(second.state).toMatchObject({ exit: { error: 'SVC_MANIFEST_UNREADABLE' } });
  expect(first.state).toMatchObject({ phase: 'ready' });
});

test('a program with an option of which the environment decides, or with an invalid setting, does not start', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'program.ts');
  writeFileSync(
    file,
    `import { createService } from ${HOST};\n` +
      "await createService({ name: 'a', deployed: 'environment', http: { port: 1 } } as never);\n",
  );
  const program = new Program(folder, {}, [], file);
  const invalid = new Program(folder, { SVC_HTTP_PORT: 'many' });
  expect(await Promise.all([program.ends(), invalid.ends()])).toEqual([1, 1]);
  expect(program.output).toContain('The option http is not for a service with');
  expect(invalid.state).toMatchObject({ exit: { error: 'SVC_SETTING_INVALID' } });
});

/** Asks on a new connection. Rejects if the service refuses the certificate, or has no certificate of the authority. */
async function ask(
  url: string,
  texts: Partial<CertificateTexts> & Pick<CertificateTexts, 'authorities'>,
) {
  const agent = new Agent({ maxCachedSessions: 0 });
  onTestFinished(() => agent.destroy());
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  request(
    url,
    {
      agent,
      cert: texts.certificate,
      key: texts.key,
      ca: texts.authorities,
      checkServerIdentity: () => undefined,
    },
    (response) => resolve(response.resume().statusCode!),
  )
    .on('error', reject)
    .end();
  return promise;
}

test('a program with an identity admits callers by their certificates', async () => {
  const certificates = temporaryFolder();
  mountCertificates(certificates, await textsOf(CART));
  const program = new Program(temporaryFolder(), {
    SVC_NAME: 'cart',
    SVC_IDENTITY_FOLDER: certificates,
    SVC_IDENTITY_TRUST_DOMAIN: 'td',
    SVC_IDENTITY_GATEWAY: GATEWAY,
    SVC_PROJECT: 'shop',
  });
  const url = await program.url();
  expect(url).toMatch(/^https:/);
  const gateway = await textsOf(GATEWAY);
  expect(await ask(`${url}/flags/search`, gateway)).toBe(200);
  const { authorities } = gateway;
  await expect(ask(`${url}/flags/search`, { authorities })).rejects.toBeInstanceOf(Error);
  expect(await program.ends('SIGTERM')).toBe(0);
});
