// Uploads and manifests that are sent to the registry: in parts, cut off, out of order, to another repository, or not what they say.
import { readdirSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { digestOf } from '../../oci/digest.ts';
import { TINY_MODULE } from '../oci/support/test-image.ts';
import { refusalOf, RegistryUnderTest } from './registry-under-test.ts';

const MANIFEST = { 'content-type': 'application/vnd.oci.image.manifest.v1+json' };
const BYTES = Buffer.from('0123456789');
const DIGEST = digestOf(BYTES);

function idOf(upload: string): string {
  return upload.slice(upload.lastIndexOf('/') + 1);
}

describe('an upload', () => {
  test('arrives in parts, each at the end of what is there', async () => {
    const registry = await RegistryUnderTest.start();
    const upload = await registry.begin();
    const patch = (range: string, body: Uint8Array) =>
      registry.send('PATCH', upload, {
        headers: { 'content-range': range },
        body: Buffer.from(body),
      });
    expect((await patch('0-3', BYTES.subarray(0, 4))).headers.get('range')).toBe('0-3');
    const late = await patch('6-9', BYTES.subarray(6));
    expect(late.headers.get('range')).toBe('0-3');
    expect(await refusalOf(late)).toEqual({ status: 416, code: 'BLOB_UPLOAD_INVALID' });
    expect((await patch('0-3', BYTES.subarray(0, 4))).status).toBe(416);
    expect((await patch('4-5', BYTES.subarray(4))).status).toBe(416);
    expect((await patch('4-9', BYTES.subarray(4))).status).toBe(202);
    expect((await registry.send('GET', upload)).headers.get('range')).toBe('0-9');
    expect((await registry.send('PUT', `${upload}?digest=${DIGEST}`)).status).toBe(201);
    const read = await registry.send('GET', `shop/cart/blobs/${DIGEST}`);
    expect(await read.text()).toBe(BYTES.toString());
    expect((await registry.send('GET', upload)).status).toBe(404);
  });

  test('with another digest is refused and gone', async () => {
    const registry = await RegistryUnderTest.start();
    const upload = await registry.begin();
    const wrong = await registry.send('PUT', `${upload}?digest=${digestOf(TINY_MODULE)}`, {
      body: BYTES,
    });
    expect(await refusalOf(wrong)).toEqual({ status: 400, code: 'DIGEST_INVALID' });
    expect((await registry.send('GET', upload)).status).toBe(404);
    expect((await registry.store.project('shop')).usage.bytes).toBe(0);
    expect(readdirSync(join(registry.folder, 'projects', 'shop', 'blobs'))).toEqual([]);
  });

  test('to another repository or project is unknown', async () => {
    const registry = await RegistryUnderTest.start();
    const upload = await registry.begin();
    for (const repository of ['shop/basket', 'depot/cart']) {
      const path = upload.replace('shop/cart', repository);
      const answer = await registry.send('PUT', `${path}?digest=${DIGEST}`, { body: BYTES });
      expect(await refusalOf(answer)).toEqual({ status: 404, code: 'BLOB_UPLOAD_UNKNOWN' });
    }
    expect((await registry.send('GET', upload)).status).toBe(204);
  });

  test('that is cut off keeps what has arrived, and continues', async () => {
    const registry = await RegistryUnderTest.start();
    const upload = await registry.begin();
    const sending = httpRequest(`${registry.url}${upload}?digest=${DIGEST}`, {
      method: 'PUT',
      headers: { authorization: 'Bearer ann', 'content-length': '10' },
    });
    sending.on('error', () => {});
    sending.write(BYTES.subarray(0, 4));
    const { blobs } = await registry.store.project('shop');
    const stored = blobs.upload('cart', idOf(upload));
    await expect.poll(() => stored.size).toBe(4);
    sending.destroy();
    await expect.poll(() => stored.isBusy).toBe(false);
    expect((await registry.send('GET', `shop/cart/blobs/${DIGEST}`)).status).toBe(404);
    const rest = { headers: { 'content-range': '4-9' }, body: BYTES.subarray(4) };
    expect((await registry.send('PUT', `${upload}?digest=${DIGEST}`, rest)).status).toBe(201);
  });

  test('is refused while another request adds to it', async () => {
    const registry = await RegistryUnderTest.start();
    const upload = await registry.begin();
    const sending = httpRequest(`${registry.url}${upload}`, {
      method: 'PATCH',
      headers: { authorization: 'Bearer ann', 'content-length': '10' },
    });
    sending.on('error', () => {});
    sending.write(BYTES.subarray(0, 4));
    const { blobs } = await registry.store.project('shop');
    await expect.poll(() => blobs.upload('cart', idOf(upload)).size).toBe(4);
    const second = await registry.send('PATCH', upload, { body: BYTES });
    expect(await refusalOf(second)).toEqual({ status: 409, code: 'BLOB_UPLOAD_INVALID' });
    expect((await registry.send('DELETE', upload)).status).toBe(409);
    sending.destroy();
  });

  test.each([
    ['a blob beyond its limit', { blobBytesMax: 9 }, 413, 'SIZE_INVALID'],
    ["a blob beyond the project's quota", { projectBytesMax: 9 }, 403, 'DENIED'],
  ])('of %s is refused, and gives its bytes back', async (_what, section, status, code) => {
    const registry = await RegistryUnderTest.start(section);
    const answer = await registry.send('POST', `shop/cart/blobs/uploads/?digest=${DIGEST}`, {
      body: BYTES,
    });
    expect(await refusalOf(answer)).toEqual({ status, code });
    expect((await registry.store.project('shop')).usage.bytes).toBe(0);
  });

  test('that is refused while it arrives is answered, also to a sender that reads only after it has sent everything', async () => {
    const registry = await RegistryUnderTest.start({ blobBytesMax: 1000 });
    const upload = await registry.begin();
    const { hostname, port } = new URL(registry.url);
    const socket = connect(Number(port), hostname).pause();
    const body = Buffer.alloc(16 * 1024 * 1024);
    socket.write(
      `PUT ${upload}?digest=${DIGEST} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer ann\r\n` +
        `Content-Length: ${body.length}\r\n\r\n`,
    );
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject);
      socket.write(body, () => resolve());
    });
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 [^]*SIZE_INVALID/);
  });

  test('is refused beyond the number that a project may have, until one expires', async () => {
    const registry = await RegistryUnderTest.start({ projectUploadsMax: 1, uploadExpiryMs: 1000 });
    const upload = await registry.begin();
    const second = await registry.send('POST', 'shop/cart/blobs/uploads/');
    expect(await refusalOf(second)).toEqual({ status: 429, code: 'TOOMANYREQUESTS' });
    registry.nowMs += 1000;
    await registry.store.sweep();
    expect((await registry.send('GET', upload)).status).toBe(404);
    expect((await registry.send('POST', 'shop/cart/blobs/uploads/')).status).toBe(202);
  });
});

describe('a manifest', () => {
  const config = {
    mediaType: 'application/vnd.oci.image.config.v1+json',
    digest: DIGEST,
    size: 10,
  };
  const manifest = (change: object = {}) =>
    JSON.stringify({ schemaVersion: 2, config, layers: [], ...change });

  test.each<[string, string, Record<string, string>, number, string]>([
    ['is no JSON', '<html>', MANIFEST, 400, 'MANIFEST_INVALID'],
    ['has no layers', '{"config":{}}', MANIFEST, 400, 'MANIFEST_INVALID'],
    [
      'has the media type of no image',
      manifest(),
      { 'content-type': 'text/html' },
      415,
      'MANIFEST_INVALID',
    ],
    [
      'says that it is something else',
      manifest({ mediaType: 'a/b' }),
      MANIFEST,
      400,
      'MANIFEST_INVALID',
    ],
    [
      'refers to a blob that is not there',
      manifest({ layers: [{ ...config, digest: digestOf(TINY_MODULE) }] }),
      MANIFEST,
      404,
      'MANIFEST_BLOB_UNKNOWN',
    ],
    [
      'names another size',
      manifest({ config: { ...config, size: 11 } }),
      MANIFEST,
      400,
      'SIZE_INVALID',
    ],
    ['is too large', ' '.repeat(4 * 1024 * 1024 + 1), MANIFEST, 413, 'SIZE_INVALID'],
    ['is much too large', ' '.repeat(16 * 1024 * 1024), MANIFEST, 413, 'SIZE_INVALID'],
  ])('that %s is refused', async (_what, body, headers, status, code) => {
    const registry = await RegistryUnderTest.start();
    await registry.send('POST', `shop/cart/blobs/uploads/?digest=${DIGEST}`, { body: BYTES });
    const answer = await registry.send('PUT', 'shop/cart/manifests/4', { headers, body });
    expect(await refusalOf(answer)).toEqual({ status, code });
    expect((await registry.send('GET', 'shop/cart/manifests/4')).status).toBe(404);
  });

  test('with another digest than its name is refused', async () => {
    const registry = await RegistryUnderTest.start();
    await registry.send('POST', `shop/cart/blobs/uploads/?digest=${DIGEST}`, { body: BYTES });
    const answer = await registry.send('PUT', `shop/cart/manifests/${DIGEST}`, {
      headers: MANIFEST,
      body: manifest(),
    });
    expect(await refusalOf(answer)).toEqual({ status: 400, code: 'DIGEST_INVALID' });
  });
});
