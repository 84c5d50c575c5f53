// FakeRegistry: a registry in memory on a loopback address, which answers as a test wants. It counts what it is asked.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { digestOf } from '../../../oci/digest.ts';
import type { BuiltImage } from '../../../oci/module-image.ts';
import type { RegistryReference } from '../../../oci/image-reference.ts';

/** Answers a request in place of the registry; returns false to let it answer. */
export type Interception = (request: IncomingMessage, response: ServerResponse) => boolean;

export class FakeRegistry {
  readonly host: string;
  /** Requests in the order of arrival, as `GET /v2/shop/cart/manifests/4`. */
  readonly requests: string[] = [];
  /** Values of Authorization, in the same order. */
  readonly authorizations: (string | undefined)[] = [];
  readonly blobs = new Map<string, Uint8Array>();
  /** Manifests by tag and by digest. */
  readonly manifests = new Map<
    string,
    { readonly mediaType: string; readonly bytes: Uint8Array }
  >();
  intercept: Interception = () => false;

  private constructor(server: Server) {
    this.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.requests.push(`${request.method} ${request.url}`);
      this.authorizations.push(request.headers.authorization);
      if (!this.intercept(request, response)) void this.#answer(request, response);
    });
  }

  /** Starts one that ends with the test. */
  static async start(): Promise<FakeRegistry> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return new FakeRegistry(server);
  }

  reference(tag = '4'): RegistryReference {
    return { kind: 'registry', host: this.host, repository: 'shop/cart', tag, digest: undefined };
  }

  add({ root, blobs }: BuiltImage, tag = '4'): void {
    for (const [digest, bytes] of blobs) {
      this.blobs.set(digest, bytes);
      const text = Buffer.from(bytes).toString();
      const { mediaType } = (text.startsWith('{') ? JSON.parse(text) : {}) as {
        mediaType?: string;
      };
      if (mediaType !== undefined) this.manifests.set(digest, { mediaType, bytes });
    }
    this.manifests.set(tag, this.manifests.get(root.digest)!);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, 'http://registry');
    const [, kind, name = ''] = /^\/v2\/.+\/(manifests|blobs)\/(.*)$/.exec(pathname) ?? [];
    const body: Uint8Array[] = [];
    for await (const part of request) body.push(part as Uint8Array);
    const bytes = Buffer.concat(body);
    const end = (status: number, headers: Record<string, string> = {}, content?: Uint8Array) =>
      response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : content);
    if (request.method === 'POST') return void end(202, { location: `${pathname}1?state=a` });
    if (request.method === 'PUT' && kind === 'manifests') {
      const manifest = { mediaType: request.headers['content-type']!, bytes };
      this.manifests.set(name, manifest);
      this.manifests.set(digestOf(bytes), manifest);
      return void end(201);
    }
    if (request.method === 'PUT') {
      const digest = searchParams.get('digest')!;
      const isRight = digestOf(bytes) === digest;
      if (isRight) this.blobs.set(digest, bytes);
      return void end(isRight ? 201 : 400);
    }
    const manifest = kind === 'manifests' ? this.manifests.get(name) : undefined;
    if (manifest !== undefined)
      return void end(200, { 'content-type': manifest.mediaType }, manifest.bytes);
    const blob = kind === 'blobs' ? this.blobs.get(name) : undefined;
    if (blob !== undefined) return void end(200, { 'content-length': String(blob.length) }, blob);
    end(pathname === '/v2/' ? 200 : 404);
  }
}
