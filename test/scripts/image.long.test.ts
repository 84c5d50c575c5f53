// The images, built and run without Docker: support/dockerfile.ts executes the real steps.
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { CertificateAuthority } from '../support/certificates/certificate-authority.ts';
import { certificateTexts, writeCertificates } from '../support/certificates/certificate-files.ts';
import { compileFixture } from '../support/compile-fixture.ts';
import { otlpReceiver } from '../support/otlp-receiver.ts';
import { temporaryFolderOfFile } from '../support/temporary-folder.ts';
import { startImage } from './support/container.ts';
import { buildImage, isRoot, type Image } from './support/dockerfile.ts';
import { npmEnvironment, npmProgram, whyNoRegistry } from './support/npm.ts';

const repository = join(import.meta.dirname, '..', '..');
const folder = temporaryFolderOfFile();
const noRegistry = whyNoRegistry();
const WEB_PODS = readFileSync(join(repository, 'docs/how-to/web-pods.md'), 'utf8');
const OPERATING = readFileSync(
  join(repository, 'docs/how-to/operating-the-control-plane.md'),
  'utf8',
);
const BUSYBOX = '/bin/busybox';
const noBusybox = existsSync(BUSYBOX)
  ? undefined
  : 'not tested: there is no /bin/busybox (Debian: busybox-static)';
if (noBusybox !== undefined) console.log(noBusybox);
// Another user must be able to read the folder.
chmodSync(folder, 0o755);

/** The files of node:26-slim that the steps use. */
function nodeBase(root: string): void {
  const programs = join(root, 'usr', 'local', 'bin');
  mkdirSync(programs, { recursive: true });
  copyFileSync(process.execPath, join(programs, 'node'));
  symlinkSync(npmProgram, join(programs, 'npm'));
  leaveOwners(programs);
}

function busyboxBase(root: string): void {
  mkdirSync(join(root, 'bin'));
  copyFileSync(BUSYBOX, join(root, 'bin', 'busybox'));
  const programs = join(root, 'usr', 'local', 'bin');
  mkdirSync(programs, { recursive: true });
  leaveOwners(programs);
}

/** Only root can change the owner of files. */
function leaveOwners(programs: string): void {
  if (!isRoot) writeFileSync(join(programs, 'chown'), '#!/bin/sh\n', { mode: 0o755 });
}

/** Returns every file of an image except those of its base. */
function filesOf(image: Image): string[] {
  return readdirSync(image.root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(image.root.length))
    .filter((file) => !file.startsWith('/usr/local/bin/'));
}

const sizeOf = (image: Image, files: readonly string[]) =>
  files.reduce((sum, file) => sum + statSync(join(image.root, file)).size, 0);

describe.skipIf(noRegistry !== undefined)("the runtime's image", () => {
  let image: Image;

  beforeAll(async () => {
    image = buildImage({
      dockerfile: join(repository, 'Dockerfile'),
      context: repository,
      folder: join(folder, 'runtime'),
      bases: { 'node:26-slim': nodeBase },
      env: npmEnvironment(),
    });
    // The base image has npm, but the service must not need it.
    rmSync(join(image.root, 'usr', 'local', 'bin', 'npm'));
    writeFileSync(join(image.root, 'service', 'module.wasm'), await compileFixture('counter'));
  }, 180_000);

  test('starts svc run --deployed as itself, as a user that is not root', () => {
    expect([...image.entrypoint, ...image.cmd]).toEqual(['svc', 'run', '--deployed']);
    expect(image.user?.uid).toBeGreaterThan(0);
    expect(image.volumes).toEqual(['/data']);
    expect(image.ports).toEqual(['9000', '7626']);
  });

  test('holds what runs: no sources, tests, compilers, nor a second Node', () => {
    const files = filesOf(image);
    expect(files).toContain('/svc/node_modules/@svc/host/main.js');
    expect(files.filter((file) => /\.(ts|mts|cts)$|\.test\.|\/template\//.test(file))).toEqual([]);
    const packages = readdirSync(join(image.root, 'svc', 'node_modules'));
    expect(packages).toContain('pino');
    for (const name of ['assemblyscript', '@bytecodealliance', 'typescript', 'vitest', 'node'])
      expect(packages).not.toContain(name);
    expect(readdirSync(join(image.root, 'svc', 'node_modules', '@svc')).toSorted()).toEqual([
      'addresses',
      'api',
      'cli',
      'client',
      'components',
      'contract',
      'control-plane',
      'forward',
      'gateway',
      'host',
      'http1',
      'identity',
      'kit',
      'model',
      'oci',
      'process-protocol',
      'proxy',
      'registry',
      'routing',
      'tokens',
      'webhooks',
    ]);
    const mebibytes = sizeOf(image, files) / 2 ** 20;
    console.log(`on top of node:26-slim: ${mebibytes.toFixed(1)} MiB in ${files.length} files`);
    expect(mebibytes).toBeLessThan(32);
  });

  test('serves the module where it is mounted, exports its spans, and closes the journal at SIGTERM', async () => {
    const data = join(image.root, 'data');
    const receiver = await otlpReceiver();
    const container = startImage(image, {
      words: [join('/service', 'module.wasm')],
      env: {
        SVC_DATA: data,
        SVC_HTTP_PORT: '0',
        SVC_MANAGEMENT_PORT: '0',
        SVC_OBSERVABILITY_OTLP_ENDPOINT: receiver.url,
      },
    });
    const said = text(container.stderr);
    const ended = once(container, 'close');
    const [first] = (await Promise.race([
      once(container.stdout, 'data'),
      ended.then(async () => Promise.reject(new Error(await said))),
    ])) as [Buffer];
    const url = String(first).trim();
    expect(url).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/);
    const added = await fetch(`${url}/counters/a`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"amount":5}',
    });
    expect(added.status).toBe(200);
    expect(await (await fetch(`${url}/counters/a`)).json()).toEqual({ value: 5 });
    expect(existsSync(join(data, 'owner.json'))).toBe(true);
    container.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(receiver.spans()).toHaveLength(4);
    // Every line is JSON, and one has the address of the service.
    const lines = (await said)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(lines[0]).toMatchObject({ message: 'management listening', service: 'module' });
    expect(lines[1]).toMatchObject({
      message: 'listening',
      service: 'module',
      url,
      dataFolder: data,
    });
    expect(lines.at(-1)).toMatchObject({ message: 'stopped' });
    const left = readdirSync(data);
    expect(left).toContain('journal.sqlite');
    expect(left).not.toContain('owner.json');
    expect(left).not.toContain('journal.sqlite-wal');
  });

  test('is the proxy of a web service with the command of the manifest', async () => {
    const [, command] = /command: \[(.*)\]/.exec(WEB_PODS)!;
    const authority = await CertificateAuthority.create('ca');
    const issued = await authority.issue({ uris: ['spiffe://td/ns/svc-web/sa/shop'] });
    const identity = join(folder, 'identity');
    mkdirSync(identity);
    writeCertificates(identity, certificateTexts(issued, authority));
    for (const name of readdirSync(identity)) chmodSync(join(identity, name), 0o644);
    const container = startImage(
      { ...image, entrypoint: command!.split(', ') },
      {
        words: [],
        env: {
          SVC_NAME: 'shop',
          SVC_PROJECT: 'web',
          SVC_IDENTITY_FOLDER: identity,
          SVC_IDENTITY_TRUST_DOMAIN: 'td',
          SVC_IDENTITY_GATEWAY: 'spiffe://td/ns/svc-platform/sa/gateway',
          SVC_PROXY_HOST: '127.0.0.1',
          SVC_PROXY_PORT: '0',
          SVC_PROXY_READINESS_PORT: '0',
          SVC_PROXY_CALLING_PORT: '0',
        },
      },
    );
    let logged = '';
    container.stderr.on('data', (bytes: Buffer) => (logged += bytes.toString()));
    const ended = once(container, 'close');
    for (const port of ['service', 'readiness', 'calling'])
      await expect.poll(() => logged).toContain(`${port} port listening`);
    const [, readiness] = /"port":(\d+),"message":"readiness port listening"/.exec(logged)!;
    const answer = await fetch(`http://127.0.0.1:${readiness}/ready`);
    expect(answer.headers.get('x-svc-answered-by')).toBe('proxy');
    container.kill('SIGTERM');
    expect({ ended: await ended, logged }).toMatchObject({ ended: [0, null] });
  });

  test('is the gateway with the command svc gateway', async () => {
    const authority = await CertificateAuthority.create('names');
    const { certificate, key } = await authority.issue({ dnsNames: ['*.example.org'] });
    const certificates = join(folder, 'certificates');
    mkdirSync(certificates);
    for (const [name, pem] of [
      ['default.crt', certificate],
      ['default.key', key],
    ] as const)
      writeFileSync(join(certificates, name), pem, { mode: 0o644 });
    const container = startImage(
      { ...image, entrypoint: ['svc', 'gateway'] },
      {
        words: [],
        env: {
          SVC_GATEWAY_BASE_DOMAIN: 'example.org',
          SVC_GATEWAY_CERTIFICATES: certificates,
          SVC_GATEWAY_ROUTES_FILE: join(folder, 'no-routes.json'),
          SVC_GATEWAY_PLAIN_INSTANCES: 'true',
          SVC_GATEWAY_HOST: '127.0.0.1',
          SVC_GATEWAY_PORT: '0',
          SVC_GATEWAY_PLAIN_PORT: '0',
        },
      },
    );
    let logged = '';
    container.stderr.on('data', (bytes: Buffer) => (logged += bytes.toString()));
    const ended = once(container, 'close');
    await expect.poll(() => logged, { timeout: 10_000 }).toContain('https listening');
    container.kill('SIGTERM');
    expect({ ended: await ended, logged }).toMatchObject({ ended: [0, null] });
  });

  test('is the registry with the command svc registry', async () => {
    const data = join(image.root, 'data', 'registry');
    const container = startImage(
      { ...image, entrypoint: ['svc', 'registry'] },
      {
        words: [],
        env: {
          SVC_DATA: data,
          SVC_REGISTRY_CONTROL_PLANE_URL: 'http://127.0.0.1:1',
          SVC_REGISTRY_PORT: '0',
        },
      },
    );
    const said = text(container.stderr);
    const ended = once(container, 'close');
    const [first] = (await Promise.race([
      once(container.stdout, 'data'),
      ended.then(async () => Promise.reject(new Error(await said))),
    ])) as [Buffer];
    const pullToken = readFileSync(join(data, 'pull-token'), 'utf8').trim();
    const answer = await fetch(`${String(first).trim()}/v2/`, {
      headers: { authorization: `Bearer ${pullToken}` },
    });
    expect(answer.status).toBe(200);
    container.kill('SIGTERM');
    expect({ ended: await ended, said: await said }).toMatchObject({ ended: [0, null] });
  });

  test('is the control plane with the command svc control-plane, and has its components for tools', async () => {
    const data = join(image.root, 'data', 'control-plane');
    const container = startImage(
      { ...image, entrypoint: ['svc', 'control-plane', '--deployed'] },
      {
        words: [],
        env: {
          SVC_DATA: data,
          SVC_AUTH_ISSUER: 'http://127.0.0.1:1',
          SVC_AUTH_CLIENT_ID: 'svc-cli',
          SVC_CONTROL_PLANE_BASE_DOMAIN: 'example.org',
          SVC_CONTROL_PLANE_PORT: '0',
          SVC_MANAGEMENT_PORT: '0',
        },
      },
    );
    const said = text(container.stderr);
    const ended = once(container, 'close');
    const [first] = (await Promise.race([
      once(container.stdout, 'data'),
      ended.then(async () => Promise.reject(new Error(await said))),
    ])) as [Buffer];
    const answer = await fetch(`${String(first).trim()}/auth`);
    expect(await answer.json()).toMatchObject({ audience: 'https://api.example.org' });
    container.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    const [, components] = /(\/svc\/node_modules\S+\/components\.js)/.exec(OPERATING)!;
    expect(existsSync(join(image.root, components!))).toBe(true);
    const verify = startImage(
      { ...image, entrypoint: ['svc', 'verify'] },
      { words: ['--data', join('/data', 'control-plane'), '--program', components!] },
    );
    expect(await text(verify.stdout)).toContain('every fold depends on the events alone');
  });

  test('has the command line, which can inspect the module', async () => {
    const file = join('/service', 'module.wasm');
    const container = startImage(
      { ...image, entrypoint: ['svc', 'inspect'] },
      { words: [file, '-o', 'json'] },
    );
    const said = JSON.parse(await text(container.stdout)) as { descriptor: { sdk: unknown } };
    expect(said.descriptor.sdk).toEqual({ name: '@svc/guest-sdk', version: '0.1.0' });
  });

  test('says that it has no compiler', async () => {
    const source = join('/service', 'counter.ts');
    const start = { ...image, entrypoint: ['svc', 'build'] };
    const container = startImage(start, { words: [source, '--json'] });
    const [json, said] = [text(container.stdout), text(container.stderr)];
    expect(await once(container, 'close')).toEqual([1, null]);
    expect(await said).toMatch(/^svc: This svc has no compiler: .*\[SVC_BUILD_FAILED\]\n$/);
    expect(JSON.parse(await json)).toMatchObject({ error: { code: 'SVC_BUILD_FAILED' } });
  });

  test('without a module says where it looked, and ends', async () => {
    const env = {
      SVC_DATA: join(image.root, 'data'),
      SVC_HTTP_PORT: '0',
      SVC_MANAGEMENT_PORT: '0',
    };
    const container = startImage(image, { env });
    const said = text(container.stderr);
    expect(await once(container, 'close')).toEqual([1, null]);
    const [, line] = (await said).split('\n');
    expect(JSON.parse(line!)).toMatchObject({
      level: 'error',
      message: expect.stringContaining('/service/module.wasm') as string,
      code: 'SVC_MODULE_UNREADABLE',
    });
  });
});

describe.skipIf(noBusybox !== undefined)("a module's image", () => {
  let image: Image;
  let module: Uint8Array;

  beforeAll(async () => {
    module = await compileFixture('counter');
    const context = join(folder, 'context');
    mkdirSync(context);
    writeFileSync(join(context, 'counter.wasm'), module);
    image = buildImage({
      dockerfile: join(repository, 'images', 'module.Dockerfile'),
      context,
      folder: join(folder, 'module'),
      args: { MODULE: 'counter.wasm' },
      bases: { 'busybox:stable-musl': busyboxBase },
      env: {},
    });
  });

  test('holds the module and one program', () => {
    expect(filesOf(image).toSorted()).toEqual(['/cp', '/module.wasm']);
    expect(image.user?.uid).toBeGreaterThan(0);
  });

  test("puts the module into the volume where the runtime's image looks for it, again and again", async () => {
    const volume = join(folder, 'service');
    mkdirSync(volume, { mode: 0o777 });
    chmodSync(volume, 0o777);
    for (const round of [1, 2]) {
      const container = startImage(image, { volumes: { '/service': volume } });
      const said = text(container.stderr);
      expect([...(await once(container, 'close')), await said]).toEqual([0, null, '']);
      expect(readdirSync(volume), `round ${round}`).toEqual(['module.wasm']);
      expect(readFileSync(join(volume, 'module.wasm')).equals(module)).toBe(true);
    }
    expect(statSync(join(volume, 'module.wasm')).mode & 0o444).toBe(0o444);
  });
});
