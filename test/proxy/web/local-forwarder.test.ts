// LocalForwarder: its two ports open together, or neither does.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { openLocalForwarder } from '../../../proxy/web/local-forwarder.ts';

const listening = () =>
  process.getActiveResourcesInfo().filter((resource) => resource === 'TCPServerWrap').length;

test('a port that is taken leaves no other port open', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  const before = listening();
  const { port } = other.address() as AddressInfo;
  const opening = openLocalForwarder({
    name: 'shop',
    port,
    processPort: () => 1,
    mounts: [],
    runningFolder: undefined,
    log: () => {},
  });
  await expect(opening).rejects.toMatchObject({ code: 'SVC_PORT_IN_USE' });
  await expect.poll(listening).toBe(before);
});
