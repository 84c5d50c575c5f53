// The ports of an installation: which are tried, how one that is taken is named, and the sockets of the gateway.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { GatewaySockets } from '../../../cli/one-machine/gateway-sockets.ts';
import {
  chosenHttpPort,
  gatewayPorts,
  type MachinePorts,
  portRefusal,
  tryPorts,
} from '../../../cli/one-machine/machine-ports.ts';
import { freePorts } from '../../support/free-ports.ts';

const HOST = '127.0.0.1';

async function ports(): Promise<MachinePorts> {
  const [gateway, http, controlPlane, loginProvider, registry] = await freePorts(5);
  return {
    gateway: gateway!,
    http: http!,
    controlPlane: controlPlane!,
    loginProvider: loginProvider!,
    registry: registry!,
  };
}

async function takenPort(): Promise<number> {
  const stranger = createServer().listen(0, HOST);
  onTestFinished(() => void stranger.close());
  await once(stranger, 'listening');
  return (stranger.address() as AddressInfo).port;
}

test.each([
  ['gateway', '--port', 'the gateway'],
  ['http', '--http-port', 'the gateway'],
  ['controlPlane', '--api-port', 'the control plane'],
  ['loginProvider', '--login-port', 'the login provider'],
  ['registry', '--registry-port', 'the registry'],
] as const)('the port %s that is taken is named with %s', async (name, option, what) => {
  const free = await ports();
  await expect(tryPorts(HOST, free)).resolves.toBeUndefined();
  const port = await takenPort();
  await expect(tryPorts(HOST, { ...free, [name]: port })).rejects.toMatchObject({
    code: 'SVC_PORT_IN_USE',
    message: `Port ${port} of ${HOST}, which ${what} takes, is in use by another program. Stop that program, or choose another port with ${option}.`,
  });
});

test('without a port for HTTP the gateway has one port, and none is chosen that has another use', async () => {
  const all = await ports();
  const names = (http: number) => gatewayPorts(HOST, { ...all, http }).map(({ name }) => name);
  expect([names(80), names(0)]).toEqual([['https', 'http'], ['https']]);
  expect(await chosenHttpPort(HOST, [80])).toBe(0);
});

test('the sockets are bound under their names, also by a name of this machine, and accept nothing', async () => {
  const { gateway, http } = await ports();
  const wanted = gatewayPorts('localhost', { ...(await ports()), gateway, http });
  using sockets = await GatewaySockets.open(wanted);
  expect(sockets.all.map(({ name }) => name)).toEqual(['https', 'http']);
  expect(new Set(sockets.all.map(({ fd }) => fd)).size).toBe(2);
  const [error] = (await once(connect(gateway, HOST), 'error')) as [NodeJS.ErrnoException];
  expect(error.code).toBe('ECONNREFUSED');
});

test('a port that was taken since it was tried is named, and the others are free again', async () => {
  const free = await ports();
  const http = await takenPort();
  await expect(GatewaySockets.open(gatewayPorts(HOST, { ...free, http }))).rejects.toMatchObject({
    code: 'SVC_PORT_IN_USE',
    message: expect.stringMatching(new RegExp(`^Port ${http} .* with --http-port\\.$`)),
  });
  expect(await portRefusal(HOST, free.gateway)).toBeUndefined();
});

test('an address that this machine does not have is named with what the system says', async () => {
  // TEST-NET-1 (RFC 5737) belongs to no machine.
  const wanted = gatewayPorts('192.0.2.1', await ports());
  await expect(GatewaySockets.open(wanted)).rejects.toMatchObject({
    code: 'SVC_ADDRESS_UNAVAILABLE',
    message: expect.stringContaining('(EADDRNOTAVAIL)'),
  });
});
