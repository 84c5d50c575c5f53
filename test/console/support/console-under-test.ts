// ConsoleUnderTest: a console with a page of a few files, on a free port, with a registration folder of the test's
// own; and requests to it.
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ConsoleOptions, startConsole } from '../../../console/server/console.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}
export interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** Headers of the text. */
  readonly json: unknown;
}

export class ConsoleUnderTest {
  readonly url: string;
  /** Folder in which services register. */
  readonly folder: string;
  readonly bugs: unknown[];

  private constructor(url: string, folder: string, bugs: unknown[]) {
    this.url = url;
    this.folder = folder;
    this.bugs = bugs;
  }

  static async start(
    options: Pick<
      ConsoleOptions,
      'observedDeadlineMs' | 'webhooks' | 'developmentKeyFile' | 'sockets'
    > = {},
  ): Promise<ConsoleUnderTest> {
    const folder = join(temporaryFolder(), 'running');
    const pageFolder = join(temporaryFolder(), 'public');
    mkdirSync(join(pageFolder, 'assets'), { recursive: true });
    mkdirSync(folder);
    writeFileSync(join(pageFolder, 'index.html'), '<!doctype html><title>svc</title>');
    writeFileSync(join(pageFolder, 'assets', 'index-1a2b.js'), 'let x;');
    writeFileSync(join(pageFolder, '..', 'secret.html'), 'not of the page');
    const bugs: unknown[] = [];
    const served = await startConsole({
      ...options,
      port: 0,
      runningFolder: folder,
      pageFolder,
      failed: (error) => bugs.push(error),
    });
    onTestFinished(() => served.close());
    return new ConsoleUnderTest(served.url, folder, bugs);
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** Sends the path unchanged: nothing in it is resolved, unlike with fetch. */
  async ask(path: string, { method = 'GET', headers = {}, body }: Asked = {}): Promise<Got> {
    const { promise, resolve, reject } = Promise.withResolvers<Got>();
    // Node frames the body of a DELETE only if its length is given.
    const framing = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
    const outgoing = request(
      {
        host: '127.0.0.1',
        port: this.port,
        path,
        method,
        headers: { ...framing, ...headers },
        agent: false,
      },
      (incoming) => {
        let text = '';
        incoming.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        incoming.on('error', reject);
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode!,
            headers: incoming.headers,
            text,
            get json() {
              return JSON.parse(text) as unknown;
            },
          }),
        );
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
    return promise;
  }

  /** Sends a request that changes something, as the page does. */
  async change(method: string, path: string, body: object = {}): Promise<Got> {
    return this.ask(path, {
      method,
      headers: { 'content-type': 'application/json', 'x-svc-console': '1' },
      body: JSON.stringify(body),
    });
  }

  /** Sends a request to a service, as the page does. */
  async call(
    instanceId: string,
    call: Readonly<Record<string, unknown>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Got> {
    return this.ask(`/api/services/${instanceId}/call`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-svc-console': '1', ...headers },
      body: JSON.stringify({
        method: 'GET',
        headers: [],
        body: null,
        bodyIsBase64: false,
        ...call,
      }),
    });
  }
}
