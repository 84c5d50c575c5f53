// Addresses of instances: each port is tried before it is given, and a program that is in the way is named.
import { createServer, type Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import {
  defaultNetwork,
  InstanceAddresses,
  type InstanceAddress,
} from '../../../control-plane/local/instance-addresses.ts';
import { cart, isComplete, observed, running } from './cart.ts';
import { IMAGES, MachineUnderTest } from './machine-under-test.ts';
import { until } from './until.ts';

async function listen(host: string, port: number): Promise<Server> {
  const server = createServer();
  await new Promise<void>((done, failed) => {
    server.once('error', failed).listen({ host, port, exclusive: true }, done);
  });
  onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())));
  return server;
}
const portOf = (server: Server) => (server.address() as { readonly port: number }).port;
const machineWith = (network: string) => {
  const machine = new MachineUnderTest({ hasDataFolder: true, network });
  onTestFinished(() => machine.discard());
  return machine;
};

test('a program that listens on all addresses is named with its process, and the service runs once it is gone', async () => {
  const stranger = await listen('0.0.0.0', 0);
  const port = portOf(stranger);
  const machine = machineWith('127.84');
  const descriptor = { name: 'cart', image: IMAGES.good, port };
  await machine.orchestrator.reconcile(cart(IMAGES.good, 1, { descriptor }));
  const { detail } = await observed(machine, ({ detail: text }) => text !== undefined);
  expect(detail).toContain(
    `SVC_PORT_IN_USE: Port ${port} cannot be had on any address of 127.84.0.0/16: the process ${process.pid} (`,
  );
  expect(machine.instances()).toEqual([]);
  stranger.close();
  await observed(machine, isComplete);
});

test('an instance whose port a program takes while it is down is started again at another address', async () => {
  const machine = machineWith('127.84');
  await running(machine, IMAGES.good, 1);
  const { address, ports } = machine.instances()[0]!.spec;
  process.kill(machine.pids()[0]!, 'SIGKILL');
  await until(async () => {
    try {
      await listen(address, ports.management);
      return true;
    } catch {
      return false;
    }
  });
  await until(async () => machine.instances()[0]!.spec.address !== address);
  await observed(machine, ({ readyInstances }) => readyInstances === 1);
  expect(machine.instances()).toHaveLength(1);
});

test('where each instance cannot have an address, they share one and have free ports', async () => {
  expect(defaultNetwork('linux')).toBe('127.83');
  expect(defaultNetwork('darwin')).toBe('ports');
  expect(defaultNetwork('win32')).toBe('ports');
  const machine = machineWith('ports');
  await running(machine, IMAGES.good, 1);
  await running(machine, IMAGES.other, 2);
  const { spec } = machine.instances()[0]!;
  expect(spec.address).toBe('127.0.0.1');
  const numbers = [spec.ports.http, spec.ports.management, spec.ports.remoting];
  expect(new Set(numbers).size).toBe(3);
  expect(numbers).not.toContain(9000);
});

test('what was given a moment ago is not given again, and a present address is kept while it is free', async () => {
  const used: InstanceAddress[] = [];
  const addresses = new InstanceAddresses(
    'ports',
    () => used,
    () => 0,
  );
  const wanted = { http: 9000, management: 7626, remoting: 17355 };
  const found = await Promise.all(Array.from({ length: 20 }, () => addresses.find(wanted)));
  const numbers = found.flatMap(({ ports }) => Object.values(ports) as number[]);
  expect(new Set(numbers).size).toBe(60);
  expect(await addresses.find(wanted, found[0])).toEqual(found[0]);
  await listen('127.0.0.1', found[0]!.ports.management);
  expect(await addresses.find(wanted, found[0])).not.toEqual(found[0]);
});

test('a service without requests has no port for them', async () => {
  const addresses = new InstanceAddresses(
    '127.86',
    () => [],
    () => 0,
  );
  const wanted = { management: 7626, remoting: 17355 };
  const { address, ports } = await addresses.find(wanted);
  expect(address).toMatch(/^127\.86\.\d+\.\d+$/);
  expect(ports).toEqual(wanted);
});
