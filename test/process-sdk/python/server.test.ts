// A process in Python takes whatever comes to its port, and ends when it is asked to.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { Client, credentials } from '@grpc/grpc-js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { OPEN_METHOD } from '../../../process-protocol/protocol.ts';
import { python, startPython } from '../../support/python.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { connectionTo, guestAt } from '../typescript/support/served-guest.ts';

const root = join(import.meta.dirname, '..', '..', '..');
const support = join(import.meta.dirname, 'support');

async function started(program: string, port = 0) {
  const one = await startPython(join(support, program), [], port);
  onTestFinished(() => void one.program.child.kill('SIGKILL'));
  return one;
}

/** Opens a stream, sends the bytes as a message, and resolves with the details of its end. */
async function sent(address: string, message: Buffer): Promise<string> {
  const client = new Client(address, credentials.createInsecure());
  onTestFinished(() => client.close());
  const { path, requestSerialize, responseDeserialize } = OPEN_METHOD;
  const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
  stream.on('data', () => {});
  const failed = once(stream, 'error').catch((error: unknown) => [error]);
  stream.write(message);
  const [error] = (await failed) as [Error & { readonly details: string }];
  return error.details;
}

describe.skipIf(python === undefined)('a process in Python', () => {
  test('ends a stream that breaks the protocol, serves the others, and ends when it is asked to', async () => {
    const { program, address } = await started('cart_program.py');
    const [host, port] = address.split(':');
    const guest = await guestAt(connectionTo(address));
    onTestFinished(async () => guest.close());
    expect(await sent(address, Buffer.from([0xff, 0xff]))).toContain('does not decode');
    const http = connect(Number(port), host);
    http.write('GET / HTTP/1.1\r\n\r\n');
    http.resume();
    await once(http, 'close');
    const cart = await guest.entities.open({ component: 'shopping-cart', id: 'c1' }, undefined);
    expect(await cart.snapshot()).toBe('{"items":[],"checkedOut":false}');
    expect(await program.end('SIGTERM')).toMatchObject({ code: 0 });
  });

  test('lets what its code prints leave at once', async () => {
    const { program, address } = await started('stuck_program.py');
    const guest = await guestAt(connectionTo(address));
    onTestFinished(async () => guest.close());
    const entity = await guest.entities.open({ component: 'stuck', id: 's1' }, undefined);
    const call = { nowMs: 0, seed: 0n, metadata: [] };
    expect(await entity.query(call, 'greet', 'null')).toEqual({ kind: 'reply', json: '"hello"' });
    expect(await program.printed(/^(it was asked)$/m)).toBe('it was asked');
  });

  test('says which port it cannot have', async () => {
    const { address } = await started('cart_program.py');
    const port = Number(address.split(':')[1]);
    await expect(started('cart_program.py', port)).rejects.toThrow(
      `The process cannot listen at ${address}. Give another port.`,
    );
  });
});

const hasCompiler = spawnSync('protoc', ['--version']).status === 0;
if (!hasCompiler)
  console.log('no protoc: whether the messages in Python are up to date is not tested');

test.skipIf(!hasCompiler)('the messages in Python are up to date', () => {
  const own = temporaryFolder();
  for (const folder of ['process-protocol/svc', 'process-sdk/python'])
    cpSync(join(root, folder), join(own, folder), { recursive: true });
  execFileSync(join(own, 'process-sdk', 'python', 'generate.sh'), { stdio: 'pipe' });
  for (const ending of ['py', 'pyi']) {
    const file = `process-sdk/python/svc_process/generated/svc/process/v1/process_pb2.${ending}`;
    expect(readFileSync(join(own, file), 'utf8')).toBe(readFileSync(join(root, file), 'utf8'));
  }
});
